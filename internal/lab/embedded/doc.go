// Package embedded puts the lab's two halves together: the control plane of
// package lab and the World below the kubelet. It writes the site file that
// declares the result, and serves the World's faults.
//
// It is the one place where control plane, World and site meet; nothing that
// checks imports it.
package embedded
