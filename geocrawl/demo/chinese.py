"""Make the site of a Chinese province's geographic information platform, in UTF-8 and, on old pages, in GB18030."""

from __future__ import annotations

from geocrawl.demo.pages import Site

_GIS = "http://gis.qingshan-map.example"
_CITIES = ("云溪市", "白沙市", "临江市", "石门市", "龙泉市", "安平市", "南湖市", "北岭市")
_THEMES = ("交通", "水系", "影像", "土地利用", "行政区划", "地名地址")
_CAPABILITIES = "service=WMS&request=GetCapabilities"


def platform() -> Site:
    """Make the platform: service lists, themes, cities, news, and a page of the old site."""
    navigation = [
        ("/", "首页"),
        ("/fuwu", "地图服务"),
        ("/zhuti", "专题"),
        ("/chengshi", "市县节点"),
        ("/xinwen", "新闻动态"),
    ]
    site = Site("http://www.qingshan-map.example", "青山省地理信息公共服务平台", navigation, language="zh-CN")
    site.add(
        "/",
        "天地图·青山",
        "提供在线地图、影像服务、矢量服务、数据目录和元数据查询, 支持 OGC 标准的网络地图服务 (WMS)。",
        links=[("/old/index.htm", "旧版网站"), ("http://www.norvale-courier.example/world", "友情链接: 诺维尔新闻")],
    )
    _services(site)
    themes = [(f"/zhuti/{number}", f"{name}专题") for number, name in enumerate(_THEMES, 1)]
    site.add("/zhuti", "专题地图", "按专题浏览图层与空间数据。", links=themes)
    for path, title in themes:
        site.add(path, title, f"{title}: 图层说明、元数据、服务地址和接口文档。", links=[("/fuwu", "服务列表")])
    cities = [(f"/chengshi/{number}", name) for number, name in enumerate(_CITIES, 1)]
    site.add("/chengshi", "市县节点", "各市地理信息公共服务平台节点。", links=cities)
    for path, name in cities:
        site.add(path, f"{name}节点", f"{name}地理信息公共服务平台: 矢量地图、影像地图、地名查询。")
    news = [(f"/xinwen/{number}", f"平台动态第{number}期") for number in range(1, 11)]
    site.add("/xinwen", "新闻动态", "平台建设与应用新闻。", links=news)
    for path, title in news:
        site.add(path, title, "省自然资源厅召开会议, 部署年度工作。", relevant=False)
    return site


def _services(site: Site) -> None:
    site.add(
        "/fuwu",
        "地图服务列表",
        "以下网络地图服务 (WMS) 可直接在 GIS 软件中调用, 点击查看能力文档。",
        links=[
            (f"{_GIS}:8090/iserver/services/map-roads/wms111/roads", "交通地图服务 (WMS 1.1.1)"),
            (f"{_GIS}:8090/iserver/services/map-water/wms130/water?{_CAPABILITIES}", "水系地图服务能力文档"),
            (f"/ows/image?{_CAPABILITIES}", "影像服务"),
            (f"{_GIS}/wms/boundary?{_CAPABILITIES}", "行政区划服务"),
            (f"{_GIS}/geoserver/place/wms?{_CAPABILITIES}", "地名地址服务"),
        ],
    )
    # As many older Chinese pages: GB18030 under the label gb2312, named in <meta> only; 镕 and 喆 are not in GB2312.
    site.add(
        "/old/index.htm",
        "地理信息服务 (旧版)",
        "本页由张喆、李镕维护。网络地图服务、图层与元数据。",
        links=[(f"{_GIS}:6163/igs/rest/ogc/doc/landuse/WMSServer?{_CAPABILITIES}", "土地利用现状地图服务")],
        charset="gb18030",
        label="gb2312",
    )
