package labtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/poll/polltest"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/world"
)

// Fault injects a fault; repair removes it.
func (l *Lab) Fault(t *testing.T, f world.Fault) (repair func()) {
	t.Helper()
	raw, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	var added world.Fault
	if err := json.Unmarshal(l.ask(t, http.MethodPost, "/world/faults", raw), &added); err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		l.ask(t, http.MethodDelete, "/world/faults/"+added.ID, nil)
	}
}

func (l *Lab) ask(t *testing.T, method, path string, body []byte) []byte {
	t.Helper()
	resp, err := l.handle.Do(t.Context(), method, path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode/100 != 2 {
		t.Fatalf("%s %s: %s %s %v", method, path, resp.Status, raw, err)
	}
	return raw
}

// Hold creates an idle pod that occupies GPUs of a node until the test ends.
func (l *Lab) Hold(t *testing.T, node string, gpus int) {
	t.Helper()
	pods := l.Cluster.Client.CoreV1().Pods(metav1.NamespaceDefault)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "occupant-"},
		Spec: corev1.PodSpec{
			NodeName: node, Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}}, TerminationGracePeriodSeconds: new(int64(0)),
			Containers: []corev1.Container{{
				Name: "work", Image: "registry.k8s.io/pause:3.10",
				Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{kube.GPUResource: *resource.NewQuantity(int64(gpus), resource.DecimalSI)}},
			}},
		},
	}
	polltest.UntilNil(t, "the occupying pod to be created", func() (err error) {
		made, err := pods.Create(t.Context(), pod, metav1.CreateOptions{})
		if err == nil {
			pod = made
		}
		return err
	})
	t.Cleanup(func() {
		if err := pods.Delete(context.WithoutCancel(t.Context()), pod.Name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	polltest.UntilNil(t, "the occupying pod to run", func() error {
		got, err := pods.Get(t.Context(), pod.Name, metav1.GetOptions{})
		if err == nil && got.Status.Phase != corev1.PodRunning {
			err = fmt.Errorf("phase %s: %s", got.Status.Phase, got.Status.Message)
		}
		return err
	})
}
