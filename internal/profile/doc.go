// Package profile holds the figures of a kind of hardware and fabric: the inventory of a
// healthy node, link rates and collective bandwidths. Profiles are
// data (embedded YAML), and every figure carries its source. The package does
// no judging.
package profile
