package docs_test

import (
	"bytes"
	"os"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"
)

// The controller's endpoints have no authentication. The policy of the example selects its pods, and admits one namespace to
// the port of the metrics and to no other.
func TestTheExampleRestrictsTheMetricsPort(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../examples/reservation-run.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var (
		deployment appsv1.Deployment
		policy     networkingv1.NetworkPolicy
	)
	for document := range bytes.SplitSeq(data, []byte("\n---\n")) {
		var head metav1.TypeMeta
		if err := yaml.Unmarshal(document, &head); err != nil {
			t.Fatal(err)
		}
		switch head.Kind {
		case "Deployment":
			err = yaml.UnmarshalStrict(document, &deployment)
		case "NetworkPolicy":
			err = yaml.UnmarshalStrict(document, &policy)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	selector, err := metav1.LabelSelectorAsSelector(&policy.Spec.PodSelector)
	if err != nil || selector.Empty() || !selector.Matches(labels.Set(deployment.Spec.Template.Labels)) || policy.Namespace != deployment.Namespace {
		t.Fatalf("the policy selects %v in %q, the pods are %v in %q: %v", selector, policy.Namespace, deployment.Spec.Template.Labels, deployment.Namespace, err)
	}
	if len(policy.Spec.Ingress) != 1 || len(policy.Spec.Ingress[0].From) != 1 || policy.Spec.Ingress[0].From[0].NamespaceSelector == nil {
		t.Fatalf("it admits %+v", policy.Spec.Ingress)
	}
	open := deployment.Spec.Template.Spec.Containers[0].Ports
	if ports := policy.Spec.Ingress[0].Ports; len(ports) != 1 || len(open) != 1 || ports[0].Port.String() != open[0].Name {
		t.Errorf("it admits %+v, the container listens on %+v", ports, open)
	}
}
