// Package distribution recognises Kubernetes distributions by what the API shows of a node, and has what
// differs between them for the GPU stack: paths, containerd, services, packaged components, version skew.
// The figures are data, each with its source. Nothing is inferred from the absence of a mark.
package distribution
