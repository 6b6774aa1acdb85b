// Package operand simulates what happens below the kubelet to the pods of the GPU Operator's
// DaemonSets: containers that start after those that they wait for, drivers that take time to
// install, and pods that the world's faults keep from being ready. It does not know which program
// created the DaemonSets.
package operand
