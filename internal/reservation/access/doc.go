// Package access tells the holder of a lease how to get at what stands under it: a
// kubeconfig without a credential in it, and what to type. It asks the store whether the
// lease is still the caller's before it looks, and again when it has.
package access
