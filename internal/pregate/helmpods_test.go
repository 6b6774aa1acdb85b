package pregate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// badImage is what the chart of NVIDIA's GPU Operator makes of a table as the driver's version: `{{ .Values.driver.version | quote }}`
// (github.com/NVIDIA/gpu-operator, deployments/gpu-operator/templates/clusterpolicy.yaml).
const badImage = "nvcr.io/nvidia/driver:map[wrong:type]-ubuntu22.04"

// waitingPod has one container that waits for a reason. The states of a kubelet: github.com/kubernetes/kubernetes,
// pkg/kubelet/images/types.go.
func waitingPod(name, reason, image string) corev1.Pod {
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: image}}},
		Status: corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: []corev1.ContainerStatus{{
			Name: "main", Image: image, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: "why"}},
		}}},
	}
}

// A release whose image has an invalid name was awaited for the whole timeout, without a word about the pod.
func TestPodWatch(t *testing.T) {
	t.Parallel()
	const good = "nvcr.io/nvidia/driver:580.105.08"
	bad, foreign := waitingPod("new", "InvalidImageName", badImage), waitingPod("foreign", "InvalidImageName", badImage)
	pull, backoff, config := waitingPod("new", "ErrImagePull", good), waitingPod("other", "ImagePullBackOff", good), waitingPod("new", "CreateContainerConfigError", good)
	for name, c := range map[string]struct {
		reads    [][]corev1.Pod
		before   string
		stuck    bool
		progress string
	}{
		"invalid name": {reads: [][]corev1.Pod{{bad}, {bad}, {bad}}, stuck: true, progress: "waiting for pod new: container main: InvalidImageName: why"},
		// An operator replaces the pods that it created from its defaults, or a webhook corrects their image.
		"invalid for a moment":        {reads: [][]corev1.Pod{{bad}, {bad}, {}, {bad}, {bad}}, progress: "waiting for pod new: container main: InvalidImageName: why"},
		"a pod from before":           {reads: [][]corev1.Pod{{bad}, {bad}, {bad}, {bad}}, before: "new"},
		"a pod of another release":    {reads: [][]corev1.Pod{{foreign}, {foreign}, {foreign}, {foreign}}, progress: "waiting for pod foreign: container main: InvalidImageName: why"},
		"one of two pods":             {reads: [][]corev1.Pod{{foreign, bad}, {foreign, bad}, {foreign, bad}}, stuck: true, progress: "waiting for pod foreign: container main: InvalidImageName: why"},
		"a pull is repeated":          {reads: [][]corev1.Pod{{pull, backoff}, {pull}, {backoff}, {pull}}, progress: "waiting for pod new: container main: ErrImagePull: why"},
		"a Secret may be created yet": {reads: [][]corev1.Pod{{config}, {config}, {config}, {config}}, progress: "waiting for pod new: container main: CreateContainerConfigError: why"},
		"being created":               {reads: [][]corev1.Pod{{waitingPod("new", "ContainerCreating", good)}}},
		"no list":                     {reads: [][]corev1.Pod{{bad}, {bad}, nil, {}}, progress: "waiting for pod new: container main: InvalidImageName: why"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := 0
			var progress []string
			w := podWatch{
				list: func(context.Context) ([]corev1.Pod, error) {
					pods := c.reads[at]
					if pods == nil {
						return nil, errors.New("the server could not be reached")
					}
					return pods, nil
				},
				ours:     func(_ context.Context, p *corev1.Pod) bool { return p.Name != "foreign" },
				values:   map[string]any{"driver": map[string]any{"version": map[string]any{"wrong": "type"}}},
				progress: func(text string) { progress = append(progress, text) },
				before:   map[types.UID]bool{types.UID(c.before): true}, reported: map[string]bool{},
			}
			var err error
			for at = range c.reads {
				if err != nil {
					t.Fatalf("read %d: %v", at, err)
				}
				err = w.read(t.Context())
			}
			const want = `InvalidImageName: container main of pod new has the image "` + badImage + `", must be a valid image name: correct the value driver.version`
			if (err != nil) != c.stuck || err != nil && err.Error() != want {
				t.Errorf("the watch ended with %v, want %q: %v", err, want, c.stuck)
			}
			if got := strings.Join(progress, "; "); got != c.progress {
				t.Errorf("progress %q, want %q", got, c.progress)
			}
		})
	}
}

// The watch ends by a pod that can never start, and with the wait.
func TestPodWatchFollows(t *testing.T) {
	t.Parallel()
	pods := []corev1.Pod{waitingPod("new", "InvalidImageName", badImage)}
	w := podWatch{
		list:     func(context.Context) ([]corev1.Pod, error) { return pods, nil },
		ours:     func(context.Context, *corev1.Pod) bool { return true },
		progress: func(string) {}, reported: map[string]bool{},
	}
	if err := w.follow(t.Context(), time.Millisecond); err == nil || !strings.HasPrefix(err.Error(), "InvalidImageName: ") {
		t.Errorf("the watch ended with %v", err)
	}
	pods = nil
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.follow(ctx, time.Millisecond); !errors.Is(err, context.Canceled) {
		t.Errorf("after the wait, the watch ended with %v", err)
	}
}

// The value at fault is the one without which the name is valid, not one that is a part of it only.
func TestInvalidKeys(t *testing.T) {
	t.Parallel()
	values := map[string]any{
		"driver":       map[string]any{"repository": "nvcr.io/nvidia", "image": "driver", "version": map[string]any{"wrong": "type"}},
		"devicePlugin": map[string]any{"repository": "nvcr.io/NVIDIA", "version": "v0.18.0"},
		"toolkit":      map[string]any{"image": "registry.example.com/tool kit:1", "version": ""},
		"operator":     map[string]any{"enabled": true},
	}
	for image, want := range map[string]string{
		badImage: "driver.version",
		"nvcr.io/NVIDIA/k8s-device-plugin:v0.18.0": "devicePlugin.repository",
		"registry.example.com/tool kit:1":          "toolkit.image",
		"nvcr.io/nvidia/driver:580.105.08":         "",
		"nvcr.io/nvidia/k8s/container-toolkit:":    "",
	} {
		if got := strings.Join(invalidKeys(values, image), " "); got != want {
			t.Errorf("%s: %q, want %q", image, got, want)
		}
	}
}

// A pod in the namespace of a release is not the release's for that: another release's pod must not fail it.
func TestCreatedFor(t *testing.T) {
	t.Parallel()
	objects := map[object]bool{
		{schema.GroupKind{Group: "nvidia.com", Kind: "ClusterPolicy"}, "cluster-policy"}: true,
		{schema.GroupKind{Group: "apps", Kind: "Deployment"}, "gpu-operator"}:            true,
		{schema.GroupKind{Kind: "Pod"}, "hook"}:                                          true,
	}
	for _, c := range []struct {
		pod string
		// owners are the controllers of the pod, from the nearest.
		owners string
		want   bool
	}{
		{"driver-x", "apps/v1 DaemonSet nvidia-driver, nvidia.com/v1 ClusterPolicy cluster-policy", true},
		{"gpu-operator-x", "apps/v1 ReplicaSet gpu-operator-1, apps/v1 Deployment gpu-operator", true},
		{"hook", "", true},
		{"alone", "", false},
		{"grafana-x", "apps/v1 ReplicaSet grafana-1, apps/v1 Deployment grafana", false},
		{"driver-x", "apps/v1 DaemonSet nvidia-driver, example.com/v1 ClusterPolicy cluster-policy", false},
		{"gone-x", "apps/v1 ReplicaSet missing", false},
		{"loop-x", "apps/v1 ReplicaSet loop, apps/v1 ReplicaSet loop", false},
	} {
		var chain []metav1.OwnerReference
		for owner := range strings.SplitSeq(c.owners, ", ") {
			if f := strings.Fields(owner); len(f) == 3 {
				chain = append(chain, metav1.OwnerReference{APIVersion: f[0], Kind: f[1], Name: f[2], Controller: new(true)})
			}
		}
		owned := func(by []metav1.OwnerReference) metav1.ObjectMeta {
			return metav1.ObjectMeta{OwnerReferences: by[:min(1, len(by))]}
		}
		p := &corev1.Pod{ObjectMeta: owned(chain)}
		p.Name = c.pod
		got := createdFor(t.Context(), objects, p, func(_ context.Context, ref metav1.OwnerReference) (metav1.Object, error) {
			i := slices.IndexFunc(chain, func(r metav1.OwnerReference) bool { return r.Name == ref.Name })
			switch ref.Name {
			case "missing":
				return nil, fmt.Errorf("%s not found", ref.Name)
			case "loop":
				i = -1
			}
			m := owned(chain[i+1:])
			return &m, nil
		})
		if got != c.want {
			t.Errorf("pod %s, owners %q: %v, want %v", c.pod, c.owners, got, c.want)
		}
	}
}
