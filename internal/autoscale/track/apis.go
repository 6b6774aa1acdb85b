package track

import (
	"cmp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// apiServiceSource watches the registrations of the metrics API.
func (t *Tracker) apiServiceSource() source {
	return source{
		problem: snapshot.ProblemAPIServices, like: &unstructured.Unstructured{},
		lw: untyped(t.o.Cluster.Dynamic, schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}),
		put: func(o runtime.Object, now time.Time) {
			u, ok := o.(*unstructured.Unstructured)
			if !ok {
				return
			}
			if group, _, _ := unstructured.NestedString(u.Object, "spec", "group"); group == t.o.API {
				t.apis[u.GetName()] = readAPI(t.apis[u.GetName()], u, now)
			}
		},
		gone: func(o metav1.Object, _ time.Time) { delete(t.apis, o.GetName()) },
	}
}

func readAPI(had snapshot.APIService, u *unstructured.Unstructured, now time.Time) snapshot.APIService {
	a := snapshot.APIService{Ref: named("APIService", u)}
	service, _, _ := unstructured.NestedString(u.Object, "spec", "service", "name")
	namespace, _, _ := unstructured.NestedString(u.Object, "spec", "service", "namespace")
	if service != "" {
		a.Service = namespace + "/" + service
	}
	a.Conditions = held(had.Conditions, conditions(u), now)
	return a
}

// apisNow lists the registrations, or an absent one.
func (t *Tracker) apisNow() []snapshot.APIService {
	var out []snapshot.APIService
	for _, a := range t.apis {
		out = append(out, a)
	}
	if len(out) == 0 {
		out = append(out, snapshot.APIService{Ref: snapshot.Ref{Kind: "APIService", Name: "v1beta1." + t.o.API}, Absent: true})
	}
	slices.SortFunc(out, func(a, b snapshot.APIService) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// queueSource watches KAI's queues.
func (t *Tracker) queueSource() source {
	return source{
		problem: "queues", like: &unstructured.Unstructured{}, lw: untyped(t.o.Cluster.Dynamic, kube.Queues()),
		put: func(o runtime.Object, _ time.Time) {
			if u, ok := o.(*unstructured.Unstructured); ok {
				t.queues[u.GetName()] = named("Queue", u)
			}
		},
		gone: func(o metav1.Object, _ time.Time) { delete(t.queues, o.GetName()) },
	}
}

// queuesNow lists the queues named by the run's pods, including missing ones.
func (t *Tracker) queuesNow(pods []snapshot.Pod) []snapshot.Queue {
	if !t.o.Queues || t.problems["queues"] != "" {
		return nil
	}
	had := map[string]bool{"": true}
	var out []snapshot.Queue
	for _, p := range pods {
		if had[p.Queue] {
			continue
		}
		had[p.Queue] = true
		ref, there := t.queues[p.Queue]
		if !there {
			ref = snapshot.Ref{Kind: "Queue", Name: p.Queue}
		}
		out = append(out, snapshot.Queue{Ref: ref, Absent: !there})
	}
	return out
}
