package embedded

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// A rollout to arguments that the program refuses leaves the program of the former pod running. With
// it ended, the former pod was not ready either, and Helm's rollback waited for both.
func TestChosenArguments(t *testing.T) {
	t.Parallel()
	pod := func(args ...string) *corev1.Pod {
		return &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Args: args}}}}
	}
	for name, tt := range map[string]struct {
		pods    []*corev1.Pod
		refused []string
		want    []string
	}{
		"one pod":                      {[]*corev1.Pod{pod("a")}, nil, []string{"a"}},
		"the newest":                   {[]*corev1.Pod{pod("b"), pod("a")}, nil, []string{"b"}},
		"the newest is refused":        {[]*corev1.Pod{pod("b"), pod("a")}, []string{"b"}, []string{"a"}},
		"two of the refused":           {[]*corev1.Pod{pod("b"), pod("b"), pod("a")}, []string{"b"}, []string{"a"}},
		"only refused ones":            {[]*corev1.Pod{pod("b"), pod("b")}, []string{"b"}, []string{"b"}},
		"rolled back":                  {[]*corev1.Pod{pod("a")}, []string{"b"}, []string{"a"}},
		"a newer one than the refused": {[]*corev1.Pod{pod("c"), pod("b"), pod("a")}, []string{"b"}, []string{"c"}},
		"without arguments":            {[]*corev1.Pod{pod()}, nil, []string{}},
	} {
		if got := chosen(tt.pods, tt.refused); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
