package gpustack

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// operatorDeployment is the operator's Deployment as its chart and its OLM bundle have it: the labels of its pods are those of both
// (deployments/gpu-operator/templates/operator.yaml; bundle/manifests/gpu-operator-certified.clusterserviceversion.yaml).
func operatorDeployment(labels map[string]string, status appsv1.DeploymentStatus) *appsv1.Deployment {
	pod := map[string]string{"app": "gpu-operator", "app.kubernetes.io/component": "gpu-operator"}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "gpu-operator", Name: "gpu-operator", Generation: 2, Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(1)), Selector: &metav1.LabelSelector{MatchLabels: pod},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: pod}, Spec: corev1.PodSpec{
				Containers: []corev1.Container{{Name: "gpu-operator", Image: "nvcr.io/nvidia/gpu-operator:v25.10.0"}},
			}},
		},
		Status: status,
	}
}

// OLM labels Deployments itself, so that the operator of every OpenShift cluster was not found. An upgrade that does not progress
// leaves the pod of the version before ready, which had passed: the numbers are those of a Deployment of one replica whose new pod
// cannot pull its image.
func TestOperatorDeployment(t *testing.T) {
	t.Parallel()
	chart := map[string]string{"app.kubernetes.io/component": "gpu-operator", "app.kubernetes.io/managed-by": "Helm"}
	olm := map[string]string{
		"olm.deployment-spec-hash": "5yFXsy", "olm.managed": "true", "olm.owner": "gpu-operator-certified.v25.3.2", "olm.owner.kind": "ClusterServiceVersion",
		"olm.owner.namespace": "nvidia-gpu-operator", "operators.coreos.com/gpu-operator-certified.nvidia-gpu-operator": "",
	}
	running := appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 1, UpdatedReplicas: 1, ReadyReplicas: 1, AvailableReplicas: 1}
	stuck := appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 2, UpdatedReplicas: 1, ReadyReplicas: 1, AvailableReplicas: 1, UnavailableReplicas: 1, Conditions: []appsv1.DeploymentCondition{
		{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue, Reason: "MinimumReplicasAvailable"},
		{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse, Reason: "ProgressDeadlineExceeded", Message: `ReplicaSet "gpu-operator-7c9" has timed out progressing.`},
	}}
	status := func(change func(*appsv1.DeploymentStatus)) appsv1.DeploymentStatus {
		s := running
		change(&s)
		return s
	}
	other := operatorDeployment(chart, running)
	other.Spec.Template.Labels = map[string]string{"app.kubernetes.io/name": "node-feature-discovery"}
	for name, c := range map[string]struct {
		d    *appsv1.Deployment
		want check.Verdict
		says string
	}{
		"of the chart":       {operatorDeployment(chart, running), check.Passed, ""},
		"of OLM":             {operatorDeployment(olm, running), check.Passed, ""},
		"of another program": {other, check.Failed, "has no Deployment whose pods have the label app.kubernetes.io/component=gpu-operator"},
		"an upgrade that does not progress": {
			operatorDeployment(olm, stuck), check.Failed,
			`1 of 2 pods are of the current template, status current: true; ProgressDeadlineExceeded: ReplicaSet "gpu-operator-7c9" has timed out progressing.`,
		},
		"a status of the generation before": {operatorDeployment(chart, status(func(s *appsv1.DeploymentStatus) { s.ObservedGeneration = 1 })), check.Failed, "status current: false"},
		"no pod of the template":            {operatorDeployment(chart, status(func(s *appsv1.DeploymentStatus) { s.UpdatedReplicas = 0 })), check.Failed, "0 of 1 pods"},
		"no ready pod":                      {operatorDeployment(chart, status(func(s *appsv1.DeploymentStatus) { s.ReadyReplicas = 0 })), check.Failed, "has no ready pod of 1 desired"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, m := gate(t), &memory{}
			if err := g.observeOperator(t.Context(), &kube.Cluster{Client: fake.NewClientset(c.d)}, m); err != nil {
				t.Fatal(err)
			}
			f := healthy(g)
			var err error
			if f.operator, err = check.Decode[[]operatorFigures](m.obs[0]); err != nil {
				t.Fatal(err)
			}
			j := plan.Judge(g, f.observations(t))
			text := said(j)
			if j.Verdict != c.want || !strings.Contains(text, c.says) {
				t.Errorf("%s, want %s with %q: %s", j.Verdict, c.want, c.says, text)
			}
		})
	}
}
