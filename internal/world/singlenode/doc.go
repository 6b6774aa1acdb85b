// Package singlenode holds the tests of a whole run on one machine of the world, without a cluster.
package singlenode
