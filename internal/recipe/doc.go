// Package recipe opens recipe trees: the one embedded in firstlight, a directory, or an
// archive. Subpackages:
//
//	rule         the catalogue of rules
//	criteria     queries, and the overlays that match them
//	model        the file format as types
//	tree         loading and checking overlays, mixins, registry, catalogue and other files
//	resolve      building a recipe from overlays, with the origin of each value
//	query        paths in documents
//	constraint   comparing a recipe's requirements with measurements
//	nodeprofile  the nodes of a recipe
//	footprint    the pods of a recipe
//	chart        rendering Helm charts into footprints
//	lint         all rules over a whole tree, and reports
//	schema       JSON Schemas of the format
//
// No package here depends on labs or clusters; only chart opens connections.
package recipe
