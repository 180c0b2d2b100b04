"""The plans of made webs, one module each; `registry` lists them all."""
