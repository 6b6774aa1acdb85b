package operand

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/firstlight/firstlight/internal/world"
	"github.com/firstlight/firstlight/internal/world/worldtest"
)

func TestImageID(t *testing.T) {
	t.Parallel()
	// As computed by kwok's stages: printf %s IMAGE | sha256sum.
	const plugin = "nvcr.io/nvidia/k8s-device-plugin@sha256:b2f7db2e8a679706c2bc6b7f0eeaf2bb18231f13995ea71870fc282005c47aff"
	if got := imageID("nvcr.io/nvidia/k8s-device-plugin:v0.18.0", false); got != plugin {
		t.Errorf("%s, want %s", got, plugin)
	}
	for image, want := range map[string]string{"registry:5000/a/b": "registry:5000/a/b", "registry:5000/a/b:1.0": "registry:5000/a/b"} {
		got, again := imageID(image, false), imageID(image, true)
		if repository, _, _ := strings.Cut(got, "@sha256:"); repository != want || got == again || !strings.HasPrefix(again, want+"@sha256:") {
			t.Errorf("%s: %s, pushed again %s", image, got, again)
		}
	}
	if got := imageID("a@sha256:12", true); got != "a@sha256:12" {
		t.Errorf("an image that is pinned became %s", got)
	}
}

// Only the operand's pod on the node has another image ID, and the original one after the fault is
// cleared.
func TestRepushedImages(t *testing.T) {
	t.Parallel()
	w, err := world.New(world.DefaultSpec(2), worldtest.Shared(t))
	if err != nil {
		t.Fatal(err)
	}
	const image = "nvcr.io/nvidia/k8s-device-plugin:v0.18.0"
	store := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	for _, node := range []string{"gpu-01", "gpu-02"} {
		for _, operand := range []string{"nvidia-device-plugin-daemonset", "gpu-feature-discovery"} {
			if err := store.Add(&corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: operand + "-" + node, Labels: map[string]string{"app": operand}},
				Spec:       corev1.PodSpec{NodeName: node},
				Status:     corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "c", Image: image, ImageID: imageID(image, false)}}},
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
	o := &Operands{world: w, pods: corelisters.NewPodLister(store).Pods(Namespace)}
	wrong := func() []*corev1.Pod {
		t.Helper()
		pods, err := o.otherImages()
		if err != nil {
			t.Fatal(err)
		}
		return pods
	}
	if got := wrong(); len(got) != 0 {
		t.Errorf("healthy pods are to change: %+v", got)
	}
	if _, err := w.AddFault(world.Fault{Kind: "image-digest-mixed"}); err != nil {
		t.Fatal(err)
	}
	got := wrong()
	if len(got) != 1 || got[0].Name != "nvidia-device-plugin-daemonset-gpu-02" || got[0].Status.ContainerStatuses[0].ImageID != imageID(image, true) {
		t.Fatalf("%+v", got)
	}
	if err := store.Update(got[0]); err != nil {
		t.Fatal(err)
	}
	if got := wrong(); len(got) != 0 {
		t.Errorf("to change again: %+v", got)
	}
	w.ClearAll()
	if got := wrong(); len(got) != 1 || got[0].Status.ContainerStatuses[0].ImageID != imageID(image, false) {
		t.Errorf("after the repair: %+v", got)
	}
}
