// Package access returns how the holder of a lease reaches its deployment: a kubeconfig without
// credentials, and the commands to use. It checks the lease before and after it looks up the
// deployment.
package access
