package workload

import (
	"errors"
	"slices"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

// On AWS a node's name has a domain that its hostname label has not. A selector with the name matches no node.
func TestPodsSelectTheHostnameLabelOfTheirNodes(t *testing.T) {
	t.Parallel()
	const name = "ip-10-0-253-51.ec2.internal"
	client := fake.NewClientset(
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: "ip-10-0-253-51"}}},
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "gpu-02"}},
	)
	l := &Launcher{Cluster: &kube.Cluster{Client: client, Namespace: "team"}, RunID: "r"}
	client.PrependReactor("create", "jobs", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, errors.New("not created") })
	var selected []string
	client.PrependReactor("create", "jobs", func(a clienttesting.Action) (bool, runtime.Object, error) {
		create, ok := a.(clienttesting.CreateAction)
		if !ok {
			return false, nil, nil
		}
		if job, ok := create.GetObject().(*batchv1.Job); ok {
			terms := job.Spec.Template.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
			selected = terms[0].MatchExpressions[0].Values
		}
		return false, nil, nil
	})
	accounts := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default", Namespace: "team"}}
	if err := client.Tracker().Add(accounts); err != nil {
		t.Fatal(err)
	}
	_, err := l.Start(t.Context(), Spec{Name: "g", Gate: "gang", Pods: 1, GPUs: 1, Image: "i", Container: "c", Script: "true", Nodes: []string{name, "gpu-02"}})
	if want := []string{"ip-10-0-253-51", "gpu-02"}; !slices.Equal(selected, want) {
		t.Errorf("selected %q, want %q (%v)", selected, want, err)
	}
	client.PrependReactor("list", "nodes", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "nodes"}, "", errors.New("no rule"))
	})
	if got, err := hostLabels(t.Context(), l.Cluster, []string{name}); err != nil || !slices.Equal(got, []string{name}) {
		t.Errorf("without permission: %q, %v", got, err)
	}
}
