// Package worldtest tests the programs of the world: that they do not change the state that they share.
package worldtest
