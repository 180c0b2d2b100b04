<!DOCTYPE qgis PUBLIC 'http://mrcc.com/qgis.dtd' 'SYSTEM'>
<qgis version="3.22.0" styleCategories="Symbology|MapTips">
  <renderer-v2 type="categorizedSymbol" attr="health" symbollevels="0" enableorderby="0" forceraster="0">
    <categories>
      <category value="alive" label="alive" symbol="0" render="true"/>
      <category value="degraded" label="degraded" symbol="1" render="true"/>
      <category value="unconfirmed" label="unconfirmed" symbol="2" render="true"/>
      <category value="new" label="new" symbol="3" render="true"/>
      <category value="down" label="down" symbol="4" render="true"/>
      <category value="gone" label="gone" symbol="5" render="true"/>
    </categories>
    <symbols>
      <symbol name="0" type="fill" alpha="1" clip_to_extent="1">
        <layer class="SimpleFill" enabled="1" locked="0" pass="0">
          <prop k="color" v="26,122,67,20"/>
          <prop k="outline_color" v="26,122,67,255"/>
          <prop k="outline_width" v="0.4"/>
          <prop k="outline_width_unit" v="MM"/>
          <prop k="outline_style" v="solid"/>
          <prop k="style" v="solid"/>
        </layer>
      </symbol>
      <symbol name="1" type="fill" alpha="1" clip_to_extent="1">
        <layer class="SimpleFill" enabled="1" locked="0" pass="0">
          <prop k="color" v="196,134,0,20"/>
          <prop k="outline_color" v="196,134,0,255"/>
          <prop k="outline_width" v="0.4"/>
          <prop k="outline_width_unit" v="MM"/>
          <prop k="outline_style" v="solid"/>
          <prop k="style" v="solid"/>
        </layer>
      </symbol>
      <symbol name="2" type="fill" alpha="1" clip_to_extent="1">
        <layer class="SimpleFill" enabled="1" locked="0" pass="0">
          <prop k="color" v="107,114,128,20"/>
          <prop k="outline_color" v="107,114,128,255"/>
          <prop k="outline_width" v="0.4"/>
          <prop k="outline_width_unit" v="MM"/>
          <prop k="outline_style" v="solid"/>
          <prop k="style" v="solid"/>
        </layer>
      </symbol>
      <symbol name="3" type="fill" alpha="1" clip_to_extent="1">
        <layer class="SimpleFill" enabled="1" locked="0" pass="0">
          <prop k="color" v="107,114,128,20"/>
          <prop k="outline_color" v="107,114,128,255"/>
          <prop k="outline_width" v="0.4"/>
          <prop k="outline_width_unit" v="MM"/>
          <prop k="outline_style" v="solid"/>
          <prop k="style" v="solid"/>
        </layer>
      </symbol>
      <symbol name="4" type="fill" alpha="1" clip_to_extent="1">
        <layer class="SimpleFill" enabled="1" locked="0" pass="0">
          <prop k="color" v="179,38,30,20"/>
          <prop k="outline_color" v="179,38,30,255"/>
          <prop k="outline_width" v="0.4"/>
          <prop k="outline_width_unit" v="MM"/>
          <prop k="outline_style" v="solid"/>
          <prop k="style" v="solid"/>
        </layer>
      </symbol>
      <symbol name="5" type="fill" alpha="1" clip_to_extent="1">
        <layer class="SimpleFill" enabled="1" locked="0" pass="0">
          <prop k="color" v="120,20,16,20"/>
          <prop k="outline_color" v="120,20,16,255"/>
          <prop k="outline_width" v="0.4"/>
          <prop k="outline_width_unit" v="MM"/>
          <prop k="outline_style" v="solid"/>
          <prop k="style" v="solid"/>
        </layer>
      </symbol>
    </symbols>
  </renderer-v2>
  <previewExpression>"title"</previewExpression>
  <mapTip>&lt;b>[% "title" %]&lt;/b>&lt;br>[% "url" %]</mapTip>
</qgis>
