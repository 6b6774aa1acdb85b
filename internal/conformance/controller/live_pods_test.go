package controller_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/conformance"
	"github.com/firstlight/firstlight/internal/conformance/controller"
	"github.com/firstlight/firstlight/internal/lab/labtest"
	"github.com/firstlight/firstlight/internal/poll/polltest"
)

// testControllerIsAPod kills a controller as it is on a cluster, where a Deployment
// keeps it: the pod by its name and UID, and another comes in its place.
func testControllerIsAPod(t *testing.T, l *labtest.Lab) {
	const namespace, name = "operator", "manager"
	labels := map[string]string{"app": name}
	client := l.Cluster.Client
	if _, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.CoreV1().Namespaces().Delete(context.WithoutCancel(t.Context()), namespace, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	_, err := client.CoreV1().Services(namespace).Create(t.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.ServiceSpec{Selector: labels, Ports: []corev1.ServicePort{{Port: 443}}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.AppsV1().Deployments(namespace).Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{
				Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
				Containers:  []corev1.Container{{Name: name, Image: "example.com/manager:1"}},
			}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var uid string
	polltest.UntilNil(t, "the controller's pod to run", func() error {
		pods, err := client.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
		if err != nil || len(pods.Items) != 1 || pods.Items[0].Status.Phase != corev1.PodRunning {
			return fmt.Errorf("there are %d pods, %w", len(pods.Items), err)
		}
		uid = string(pods.Items[0].UID)
		return nil
	})
	c := controller.New(l.Site, l.Profile, conformance.Deps{RunID: "live-pods"})
	killed, why, err := controller.LosePods(t.Context(), c, l.Cluster, &labtest.Recorder{T: t}, namespace+"/"+name)
	if err != nil || why != "" || len(killed) != 1 || !strings.HasSuffix(killed[0], uid) {
		t.Errorf("killed %v of %s, %q, %v; want that pod, and another in its place", killed, uid, why, err)
	}
}
