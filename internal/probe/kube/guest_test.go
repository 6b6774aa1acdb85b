package kube

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// Every namespace of a run was labelled for privileged pods, because pods of two gates lock
// memory.
func TestLevelsOfPodSecurity(t *testing.T) {
	t.Parallel()
	client := fake.NewClientset(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "theirs"}})
	client.PrependReactor("list", "serviceaccounts", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, &corev1.ServiceAccountList{Items: []corev1.ServiceAccount{{}}}, nil
	})
	c := &Cluster{Client: client}
	own, err := Guest{Cluster: c}.EnsureNamespace(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	locking, err := Guest{Cluster: c}.EnsurePrivileged(t.Context(), "r", "collective", "IPC_LOCK")
	if err != nil {
		t.Fatal(err)
	}
	admins, err := Guest{Cluster: c.In("theirs")}.EnsurePrivileged(t.Context(), "r", "collective", "IPC_LOCK")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]struct{ level, reason string }{
		own: {"baseline", ""}, locking: {"privileged", "IPC_LOCK"}, admins: {"", ""},
	} {
		ns, err := client.CoreV1().Namespaces().Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if ns.Labels[podSecurity] != want.level || ns.Annotations[podSecurityReason] != want.reason || (ns.Labels[LabelRun] == "r") != (want.level != "") {
			t.Errorf("%s: %v %v, want %+v", name, ns.Labels, ns.Annotations, want)
		}
	}
	if own == locking || admins != "theirs" {
		t.Errorf("%s %s %s", own, locking, admins)
	}
}
