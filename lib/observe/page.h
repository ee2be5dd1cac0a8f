/* page.h: the files of page/, which the build turns into strings. */
#pragma once

/* page.html, with the markers @STYLE@, @DATA@ and @SCRIPT@, in this order. */
extern const char page_html[];
extern const char page_css[]; /* page.css */
extern const char page_js[];  /* page.js */
