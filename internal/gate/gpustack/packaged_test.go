package gpustack

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// balancer is the DaemonSet of ServiceLB for a Service, with the labels of k3s (pkg/cloudprovider/servicelb.go).
func balancer(namespace, service string, ready int32) *appsv1.DaemonSet {
	return &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: "svclb-" + service + "-374894d1", Labels: map[string]string{
			"svccontroller.k3s.cattle.io/svcname": service, "svccontroller.k3s.cattle.io/svcnamespace": namespace,
		}},
		Status: appsv1.DaemonSetStatus{DesiredNumberScheduled: 3, NumberReady: ready, UpdatedNumberScheduled: 3},
	}
}

// install is the Job of the Helm controller for a chart (github.com/k3s-io/helm-controller, pkg/controllers/chart/chart.go).
func install(chart string, status batchv1.JobStatus) *batchv1.Job {
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: "helm-install-" + chart, Labels: map[string]string{"helmcharts.helm.cattle.io/chart": chart}},
		Status:     status,
	}
}

// A second Service on port 80 has load balancers that stay Pending (k3s-io/k3s, issue 1969), and any HelmChart of
// kube-system has a Job there: both failed a healthy cluster. A Job that still runs had failed as well, a rollout
// whose new pods are not ready had passed, and a component without pods was listed as ready.
func TestPackagedComponents(t *testing.T) {
	t.Parallel()
	ended := func(condition batchv1.JobConditionType, succeeded int32) batchv1.JobStatus {
		return batchv1.JobStatus{Succeeded: succeeded, Conditions: []batchv1.JobCondition{{Type: condition, Status: corev1.ConditionTrue, Reason: "BackoffLimitExceeded", Message: "no more retries"}}}
	}
	traefik := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: "traefik", Generation: 2}, Status: appsv1.DeploymentStatus{ReadyReplicas: 1, UpdatedReplicas: 1, ObservedGeneration: 2}}
	deployment := func(change func(*appsv1.Deployment)) *appsv1.Deployment {
		d := traefik.DeepCopy()
		change(d)
		return d
	}
	for name, tt := range map[string]struct {
		sets        []*appsv1.DaemonSet
		jobs        []*batchv1.Job
		deployments []*appsv1.Deployment
		verdict     check.Verdict
		suspect     string
		says        string
		reason      string
	}{
		"healthy":                           {[]*appsv1.DaemonSet{balancer("kube-system", "traefik", 3)}, []*batchv1.Job{install("traefik", ended(batchv1.JobComplete, 1))}, []*appsv1.Deployment{traefik}, check.Passed, "", "", "; packaged components ready: helm-install-traefik, svclb-traefik-374894d1, traefik"},
		"traefik's load balancer":           {[]*appsv1.DaemonSet{balancer("kube-system", "traefik", 1)}, nil, nil, check.Failed, "DaemonSet kube-system/svclb-traefik-374894d1", "1 of 3 pods are ready", ""},
		"a load balancer of a user":         {[]*appsv1.DaemonSet{balancer("default", "web", 0)}, nil, nil, check.Passed, "DaemonSet kube-system/svclb-web-374894d1", "0 of 3 pods are ready: it is of Service default/web, not of k3s", "; no packaged component of k3s is installed with pods"},
		"a user's traefik":                  {[]*appsv1.DaemonSet{balancer("ingress", "traefik", 0)}, nil, nil, check.Passed, "DaemonSet kube-system/svclb-traefik-374894d1", "it is of Service ingress/traefik", ""},
		"a user's Service there":            {[]*appsv1.DaemonSet{balancer("kube-system", "web", 0)}, nil, nil, check.Passed, "DaemonSet kube-system/svclb-web-374894d1", "it is of Service kube-system/web", ""},
		"a chart of k3s has failed":         {nil, []*batchv1.Job{install("traefik-crd", ended(batchv1.JobFailed, 0))}, nil, check.Failed, "Job kube-system/helm-install-traefik-crd", "BackoffLimitExceeded", ""},
		"a chart of a user has failed":      {nil, []*batchv1.Job{install("gpu-operator", ended(batchv1.JobFailed, 0))}, nil, check.Passed, "Job kube-system/helm-install-gpu-operator", "it is of HelmChart kube-system/gpu-operator", ""},
		"a chart of k3s is installed":       {nil, []*batchv1.Job{install("traefik", batchv1.JobStatus{Active: 1})}, nil, check.Unobserved, "Job kube-system/helm-install-traefik", "has not ended", ""},
		"a chart of a user is installed":    {nil, []*batchv1.Job{install("gpu-operator", batchv1.JobStatus{Active: 1})}, nil, check.Passed, "Job kube-system/helm-install-gpu-operator", "is not judged", ""},
		"a status of the generation before": {nil, nil, []*appsv1.Deployment{deployment(func(d *appsv1.Deployment) { d.Generation = 3 })}, check.Failed, "Deployment kube-system/traefik", "status current: false", ""},
		"ready pods of the old template":    {nil, nil, []*appsv1.Deployment{deployment(func(d *appsv1.Deployment) { d.Status.UpdatedReplicas = 0 })}, check.Failed, "Deployment kube-system/traefik", "0 up to date", ""},
		"a component scaled to none": {nil, nil, []*appsv1.Deployment{deployment(func(d *appsv1.Deployment) {
			d.Spec.Replicas, d.Status.ReadyReplicas, d.Status.UpdatedReplicas = new(int32), 0, 0
		})}, check.Passed, "", "", "; no packaged component of k3s is installed with pods; without pods: traefik"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, f := onK3s(t)
			var objects []runtime.Object
			for _, d := range tt.sets {
				objects = append(objects, d)
			}
			for _, j := range tt.jobs {
				objects = append(objects, j)
			}
			for _, d := range tt.deployments {
				objects = append(objects, d)
			}
			m := &memory{}
			if err := g.observePackaged(t.Context(), &kube.Cluster{Client: fake.NewClientset(objects...)}, m); err != nil {
				t.Fatal(err)
			}
			f.packaged = nil
			j := plan.Judge(g, append(f.observations(t), m.obs...))
			if j.Verdict != tt.verdict || !strings.HasSuffix(j.Reason, tt.reason) {
				t.Fatalf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
			}
			named := tt.suspect == ""
			for _, finding := range j.Findings {
				named = named || finding.Suspect == tt.suspect && strings.Contains(finding.Message, tt.says)
			}
			if !named {
				t.Errorf("no finding %q %q in %+v", tt.suspect, tt.says, j.Findings)
			}
		})
	}
}
