// Package snapshot holds what is seen of a cell in a cluster, and what is judged of
// it: plain values, stored as an observation's figures before they are judged.
package snapshot
