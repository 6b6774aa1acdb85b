package cluster

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"

	corev1 "k8s.io/api/core/v1"
)

// secretNames generates the names of kwok's objects for logs and ports of pods.
//
// kwok's server authenticates no client: it looks up the Logs or PortForward object with the pod
// name in the request. Objects named like the pods would expose every pod's log to every process
// of the machine. Only readers of the API and logProxy know the generated names.
type secretNames struct{ key []byte }

func newSecretNames() secretNames { return secretNames{key: []byte(rand.Text())} }

// of returns the name for a pod: 128 bits in hex.
func (s secretNames) of(namespace, pod string) string {
	h := hmac.New(sha256.New, s.key)
	h.Write([]byte(namespace + "/" + pod)) // neither contains a slash
	return hex.EncodeToString(h.Sum(nil)[:16])
}

func (s secretNames) ofPod(pod *corev1.Pod) string { return s.of(pod.Namespace, pod.Name) }
