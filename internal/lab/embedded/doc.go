// Package embedded combines the control plane of package lab with the World below the kubelet. It
// writes the lab's site file and serves the World's faults.
//
// It is the only package that imports control plane, World and site; no check imports it.
package embedded
