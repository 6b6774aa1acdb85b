package access

import (
	"bytes"
	"os"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"

	"github.com/firstlight/firstlight/internal/poll"
	"github.com/firstlight/firstlight/internal/poll/polltest"
	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/store/storetest"
)

var shared storetest.Shared

func TestMain(m *testing.M) { os.Exit(shared.Main(m)) }

// An API server with Kubeflow Trainer's own definition takes the job, with no field that
// it does not know, and refuses one with a field that is wrong.
func TestTrainJobIsOne(t *testing.T) {
	s := shared.Store(t)
	client, err := dynamic.NewForConfig(s.Config)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile("../../lab/manifest/trainer/crds/trainer.kubeflow.org_trainjobs.yaml")
	if err != nil {
		t.Fatal(err)
	}
	crd := &unstructured.Unstructured{}
	if err := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(raw), 4096).Decode(&crd.Object); err != nil {
		t.Fatal(err)
	}
	crds := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	if _, err := client.Resource(crds).Create(t.Context(), crd, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	jobs := client.Resource(schema.GroupVersionResource{Group: "trainer.kubeflow.org", Version: "v1alpha1", Resource: "trainjobs"}).Namespace("default")
	create := func(object map[string]any) error {
		_, err := jobs.Create(t.Context(), &unstructured.Unstructured{Object: object}, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
		return err
	}
	row := config.Reservation{Name: "aws-h100", GPUCount: 8, NodeCount: 2}
	polltest.UntilNil(t, "the kind to be served", func() error {
		err := create(job(t, row))
		if apierrors.IsNotFound(err) {
			return err
		}
		return poll.Stop(err)
	})
	wrong := job(t, row)
	wrong["spec"].(map[string]any)["trainer"].(map[string]any)["nodes"] = int64(2)
	if err := create(wrong); err == nil || !strings.Contains(err.Error(), `unknown field "spec.trainer.nodes"`) {
		t.Errorf("a wrong one: %v", err)
	}
	got, err := jobs.List(t.Context(), metav1.ListOptions{LabelSelector: "firstlight.dev/reservation=aws-h100"})
	if err != nil || len(got.Items) != 1 {
		t.Fatalf("%v %v", got, err)
	}
	nodes, _, _ := unstructured.NestedInt64(got.Items[0].Object, "spec", "trainer", "numNodes")
	gpus, _, _ := unstructured.NestedFieldNoCopy(got.Items[0].Object, "spec", "trainer", "resourcesPerNode", "limits", "nvidia.com/gpu")
	if nodes != 2 || gpus != int64(8) {
		t.Errorf("it has %d nodes with %v GPUs", nodes, gpus)
	}
}
