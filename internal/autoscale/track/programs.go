package track

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
)

// programSources watch the Deployments that the chain needs.
func (t *Tracker) programSources() []source {
	var out []source
	for _, p := range t.o.Programs {
		out = append(out, source{
			problem: snapshot.ProblemPrograms + "/" + p.Role, like: &appsv1.Deployment{},
			lw: chosen(t.o.Cluster.Client.AppsV1().RESTClient(), "deployments", p.Namespace, "", fields.OneTermEqualSelector("metadata.name", p.Name).String()),
			put: func(o runtime.Object, _ time.Time) {
				if d, ok := o.(*appsv1.Deployment); ok {
					t.programs[p] = readProgram(p, d)
				}
			},
			gone: func(metav1.Object, time.Time) { delete(t.programs, p) },
		})
	}
	return out
}

func readProgram(p Program, d *appsv1.Deployment) *snapshot.Program {
	out := &snapshot.Program{Ref: named("Deployment", d), Role: p.Role, Desired: 1, Ready: int(d.Status.ReadyReplicas)}
	if d.Spec.Replicas != nil {
		out.Desired = int(*d.Spec.Replicas)
	}
	if out.Ready >= out.Desired {
		return out
	}
	for _, c := range d.Status.Conditions {
		if (c.Type == appsv1.DeploymentAvailable || c.Type == appsv1.DeploymentProgressing) && c.Status == corev1.ConditionFalse ||
			c.Type == appsv1.DeploymentReplicaFailure && c.Status == corev1.ConditionTrue {
			out.Why = join(out.Why, c.Message)
		}
	}
	return out
}

// programsNow lists all programs, including missing ones.
func (t *Tracker) programsNow() []snapshot.Program {
	var out []snapshot.Program
	for _, p := range t.o.Programs {
		if have := t.programs[p]; have != nil {
			out = append(out, *have)
			continue
		}
		out = append(out, snapshot.Program{
			Ref:  snapshot.Ref{Kind: "Deployment", Namespace: p.Namespace, Name: p.Name},
			Role: p.Role, Absent: true,
		})
	}
	return out
}
