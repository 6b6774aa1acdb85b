// Package recipe opens recipe trees: the one that ships with firstlight, or one
// on disk. What is done with them is in the packages below it:
//
//	problem     what is wrong, by rule and place
//	strict      YAML read so that nothing is overlooked
//	criteria    what is asked for, and what matches it
//	model       the format, as types
//	tree        overlays, mixins, registry and catalogue, loaded and checked
//	resolve     a recipe made of overlays, and why each value is what it is
//	query       paths in documents
//	constraint  what a recipe demands, held against what was measured
//	beside      files that stand beside the overlays, or those that ship with firstlight
//	shape       the nodes that a recipe meets
//	footprint   the pods that a recipe schedules
//	lint        every rule over a whole tree, and its reports
//	schema      JSON Schemas of the format
//
// Nothing below here knows of labs, clusters or the network.
package recipe
