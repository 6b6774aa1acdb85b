// Package podpatch applies a site's strategic merge patches to the pods that gates create: secrets,
// pull secrets, tolerations, annotations, volumes, runtime classes. A patch may add to a pod. It
// may not change or remove what the gate has set, since the gate judges by it.
package podpatch
