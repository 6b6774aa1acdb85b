package distribution

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/version"
)

// The version skew policy of Kubernetes: https://kubernetes.io/releases/version-skew-policy
const (
	// older is how many minor versions a kubelet may be older than the API server; olderBefore those of kubelets
	// before 1.25.
	older, olderBefore = 3, 2
	// SkewServers is how many minor versions API servers may be apart.
	SkewServers = 1
	since       = 25
)

// Minor returns the minor version of a Kubernetes version such as v1.33.4+k3s1.
func Minor(text string) (int, error) {
	v, err := version.ParseGeneric(text)
	if err != nil {
		return 0, fmt.Errorf("read version %q: %w", text, err)
	}
	if v.Major() != 1 {
		return 0, fmt.Errorf("read version %q: major version %d, want 1", text, v.Major())
	}
	return int(v.Minor()), nil //nolint:gosec // a minor version
}

// MaxOlder is how many minor versions a kubelet may be older than the API servers.
func (s Skew) MaxOlder(kubelet int) int {
	switch {
	case s.Older > 0:
		return s.Older
	case kubelet < since:
		return olderBefore
	default:
		return older
	}
}
