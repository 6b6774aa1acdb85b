package cluster

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"

	corev1 "k8s.io/api/core/v1"
)

// secretNames are the names of the objects that lead kwok to a pod's logs and ports.
//
// kwok's server authenticates no client: it looks for the Logs or PortForward object that has
// the name of the pod in the request. Such objects with the names of pods would show every
// pod's log to every process of the machine. The world's have names that only readers of the
// API and the server before kwok's know (front).
type secretNames struct{ key []byte }

func newSecretNames() secretNames { return secretNames{key: []byte(rand.Text())} }

// of is the name for a pod: 128 bits in hex.
func (s secretNames) of(namespace, pod string) string {
	h := hmac.New(sha256.New, s.key)
	h.Write([]byte(namespace + "/" + pod)) // neither has a slash
	return hex.EncodeToString(h.Sum(nil)[:16])
}

func (s secretNames) ofPod(pod *corev1.Pod) string { return s.of(pod.Namespace, pod.Name) }
