// Package toolpod runs the programs of the GPU driver and of DCGM where they are: on the host
// over SSH, or in the GPU Operator's pods on its node, through the API server. With the
// operator's containerised driver the hosts have neither.
package toolpod
