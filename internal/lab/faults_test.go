package lab

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// postAlert posts an alert to Alertmanager.
func (r *running) postAlert(t *testing.T, name string) {
	t.Helper()
	cfg, err := clientTLS(r.info.CA, r.info.ClientCert, r.info.ClientKey)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: cfg, DisableKeepAlives: true}}
	body := fmt.Sprintf(`[{"labels":{"alertname":%q,"severity":"critical"}}]`, name) // the route to on-call selects by severity
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.info.AlertmanagerURL+"/api/v2/alerts", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("post alert: %s", resp.Status)
	}
}

func (r *running) awaitAlert(t *testing.T, name string) {
	t.Helper()
	for {
		select {
		case got := <-r.alerts:
			if strings.Contains(got, `"`+name+`"`) {
				return
			}
			if strings.Contains(got, `"unrouted"`) {
				t.Fatal("an alert without a route arrived")
			}
		case <-time.After(3 * time.Minute):
			t.Fatalf("alert %s did not arrive", name)
		}
	}
}

func testAlerts(t *testing.T, r *running) {
	r.postAlert(t, "first")
	r.awaitAlert(t, "first")
	if err := r.SetAlertRouteMissing(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	r.postAlert(t, "unrouted")
	// The restart clears Alertmanager's memory: the next notification shows that the alert posted
	// under the fault was not sent.
	if err := r.SetAlertRouteMissing(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	r.postAlert(t, "second")
	r.awaitAlert(t, "second")
}

var podGroups = schema.GroupVersionResource{Group: "scheduling.k8s.io", Version: "v1alpha2", Resource: "podgroups"}

func (r *running) createGang(t *testing.T, name string, size int64) error {
	t.Helper()
	_, err := r.dyn.Resource(podGroups).Namespace("default").Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "scheduling.k8s.io/v1alpha2", "kind": "PodGroup", "metadata": map[string]any{"name": name},
		"spec": map[string]any{"schedulingPolicy": map[string]any{"gang": map[string]any{"minCount": size}}},
	}}, metav1.CreateOptions{})
	return err
}

func memberOf(gang, name string) *corev1.Pod {
	pod := simplePod(name)
	pod.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: &gang}
	return pod
}

func bound(p *corev1.Pod) bool { return p.Spec.NodeName != "" }

func testGangs(t *testing.T, r *running) {
	if err := r.createGang(t, "whole", 2); err != nil {
		t.Fatal(err)
	}
	r.createPod(t, memberOf("whole", "whole-0"))
	r.requireUnbound(t, "whole-0")
	r.createPod(t, memberOf("whole", "whole-1"))
	r.awaitPod(t, "whole-0", "bound with its gang", bound)
	r.awaitPod(t, "whole-1", "bound with its gang", bound)

	if err := r.SetHalfGang(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	if err := r.createGang(t, "half", 2); err != nil {
		t.Fatal(err)
	}
	r.createPod(t, memberOf("half", "half-0"))
	r.awaitPod(t, "half-0", "bound alone", bound)
	if err := r.SetHalfGang(t.Context(), false); err != nil {
		t.Fatal(err)
	}

	if err := r.SetNoGangScheduler(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	if err := r.createGang(t, "none", 2); !apierrors.IsNotFound(err) {
		t.Errorf("a gang without a gang scheduler: %v, want not found", err)
	}
	r.createPod(t, simplePod("plain"))
	r.awaitPod(t, "plain", "running", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning })
	if err := r.SetNoGangScheduler(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	if err := r.createGang(t, "again", 2); err != nil {
		t.Errorf("a gang with the gang scheduler back: %v", err)
	}
}

// requireUnbound proves that the scheduler has processed the pod without binding it: a later pod
// without a gang is bound first.
func (r *running) requireUnbound(t *testing.T, name string) {
	t.Helper()
	after := "after-" + name
	r.createPod(t, simplePod(after))
	r.awaitPod(t, after, "bound", bound)
	pod, err := r.client.CoreV1().Pods("default").Get(t.Context(), name, metav1.GetOptions{})
	if err != nil || bound(pod) {
		t.Fatalf("pod %s is bound without its gang (%v)", name, err)
	}
}
