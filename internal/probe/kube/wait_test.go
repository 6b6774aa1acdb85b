package kube

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// A wait for the end of objects lists them at an interval, also while they change all the time.
func TestWaitsListAtAnInterval(t *testing.T) {
	t.Parallel()
	const most = 60
	for name, tt := range map[string]struct {
		resource string
		wait     func(ctx context.Context, g Guest) error
		want     string
	}{
		"jobs": {"jobs", func(ctx context.Context, g Guest) error {
			return g.Cluster.waitNone(ctx, kindOf("Job", "batch", "v1", "jobs"), LabelRun+"=r", nil)
		}, "remove 1 jobs"},
		"pods":          {"pods", func(ctx context.Context, g Guest) error { return g.drain(ctx, "theirs") }, "remove 1 pods of theirs, busy first"},
		"the namespace": {"namespaces", func(ctx context.Context, g Guest) error { return g.waitNamespaceGone(ctx, "theirs") }, "namespace theirs is still terminating"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				c := clusterWithJobs("one")
				lists := 0
				changing := func(clienttesting.Action) (bool, watch.Interface, error) {
					w := watch.NewFakeWithChanSize(1, false)
					w.Modify(&corev1.Pod{})
					return true, w, nil
				}
				counted := func(clienttesting.Action) (bool, runtime.Object, error) {
					if lists++; lists > 10*most {
						cancel()
					}
					switch busy := (metav1.ObjectMeta{Name: "busy"}); tt.resource {
					case "pods":
						return true, &corev1.PodList{Items: []corev1.Pod{{ObjectMeta: busy}}}, nil
					case "namespaces":
						return true, &corev1.NamespaceList{Items: []corev1.Namespace{{ObjectMeta: busy}}}, nil
					default:
						return false, nil, nil
					}
				}
				client, _ := c.Client.(*fake.Clientset)
				dynamic, _ := c.Dynamic.(*dynamicfake.FakeDynamicClient)
				client.PrependReactor("list", tt.resource, counted)
				client.PrependWatchReactor(tt.resource, changing)
				dynamic.PrependReactor("list", tt.resource, counted)
				dynamic.PrependWatchReactor(tt.resource, changing)
				err := tt.wait(ctx, Guest{Cluster: c})
				if err == nil || !strings.Contains(err.Error(), tt.want) || lists > most {
					t.Errorf("%d lists within 10 s, want at most %d: %v", lists, most, err)
				}
			})
		})
	}
}
