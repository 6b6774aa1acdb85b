package lab

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/firstlight/firstlight/internal/lab/component"
	"github.com/firstlight/firstlight/internal/suite"
)

// A store keeps its objects over a stop. For every change, internal/reservation/safety stops and starts
// one.
func TestStore(t *testing.T) {
	suite.Require(t, suite.All)
	needPrograms(t)
	dir := t.TempDir()
	store := func() (*Lab, kubernetes.Interface) {
		t.Helper()
		l, err := New(Options{Name: "store", Dir: dir, Purpose: component.Store})
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		client, err := kubernetes.NewForConfig(l.RestConfig())
		if err != nil {
			t.Fatal(err)
		}
		return l, client
	}
	ctx := context.WithoutCancel(t.Context())
	first, client := store()
	kept := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "kept"}}
	if _, err := client.CoreV1().Namespaces().Create(ctx, kept, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := first.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	second, client := store()
	defer func() {
		if err := second.Stop(ctx); err != nil {
			t.Error(err)
		}
		requireGone(t, first.id)
		requireGone(t, second.id)
	}()
	if _, err := client.CoreV1().Namespaces().Get(ctx, "kept", metav1.GetOptions{}); err != nil {
		t.Errorf("after a stop: %v", err)
	}
	if n := len(component.All(second.conf)); n != 2 {
		t.Errorf("a store has %d components, want etcd and kube-apiserver", n)
	}
}

func TestStoreHasNoExtras(t *testing.T) {
	_, err := New(Options{Name: "store", Dir: t.TempDir(), Purpose: component.Store, With: []string{"karpenter"}})
	if err == nil {
		t.Error("a store with Karpenter is accepted")
	}
}
