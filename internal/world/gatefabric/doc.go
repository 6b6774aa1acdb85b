// Package gatefabric holds the tests of gate 2 over hosts of the world that are not on InfiniBand.
package gatefabric
