/* The second manifest note of a plugin that has one already. */
#include "otc/plugin.h"
OTC_MANIFEST("manifest=1\nid=two-notes\nabi=1.0\nversion=1.0.0\nprovides=\nbuild=release\n");
