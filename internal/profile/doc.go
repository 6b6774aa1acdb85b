// Package profile holds the figures of a kind of hardware and fabric: what a
// healthy node has, what links run at, what collectives reach. Profiles are
// data (embedded YAML), and every figure carries its source. The package does
// no judging.
package profile
