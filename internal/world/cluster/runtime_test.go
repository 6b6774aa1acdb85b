package cluster

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kube "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	ktesting "k8s.io/client-go/testing"

	"github.com/firstlight/firstlight/internal/world"
	"github.com/firstlight/firstlight/internal/world/worldtest"
)

// On a loaded machine a pod was Running, and its log followed, before the goroutine of its worker had made the log's
// file: the follow ended at once and without a line.
func TestLogExistsAsSoonAsItsPodIsFound(t *testing.T) {
	t.Parallel()
	r := heldRuntime(t, t.TempDir())
	for i := range 20 {
		name := fmt.Sprintf("trainer-%d", i)
		r.observe(trainer(name))
		of := r.find("default", name, "c")
		if of == nil {
			t.Fatal("no worker")
		}
		if _, err := os.Stat(of.logPath(of.attempt())); err != nil {
			t.Error(err)
		}
	}
}

func TestAPodWhoseLogCannotBeMadeIsTriedAgain(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "pods")
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r := heldRuntime(t, dir)
	r.observe(trainer("trainer"))
	if r.find("default", "trainer", "c") != nil {
		t.Error("a worker without a log")
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	r.observe(trainer("trainer"))
	if r.find("default", "trainer", "c") == nil {
		t.Error("not tried again")
	}
}

// heldRuntime is a runtime whose workers wait at their first request of the API until the test ends.
func heldRuntime(t *testing.T, dir string) *runtime {
	t.Helper()
	w, err := world.New(world.DefaultSpec(1), worldtest.Shared(t))
	if err != nil {
		t.Fatal(err)
	}
	life, cancel := context.WithCancel(t.Context())
	dyn := dynamicfake.NewSimpleDynamicClient(kube.NewScheme())
	dyn.PrependReactor("*", "*", func(ktesting.Action) (bool, kube.Object, error) {
		<-life.Done()
		return true, nil, life.Err()
	})
	r := &runtime{
		life: life, cancel: cancel, dyn: dyn, world: w, dir: dir, log: slog.New(slog.DiscardHandler),
		nodes: map[string]bool{"gpu-01": true}, names: newSecretNames(), workers: map[types.UID]*worker{},
	}
	t.Cleanup(r.stop)
	return r
}

func trainer(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name)},
		Spec:       corev1.PodSpec{NodeName: "gpu-01", Containers: []corev1.Container{bash("torchrun -m torchtitan.train")}},
	}
}
