package access

import (
	"os/exec"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/firstlight/firstlight/internal/golden"
	"github.com/firstlight/firstlight/internal/reservation/config"
)

func TestSteps(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		access  Access
		row     config.Reservation
		service Service
	}{
		"training":          {Access{Reservation: "aws-h100", Intent: config.Training, Kubeconfig: "/home/ada/aws.kubeconfig"}, config.Reservation{Cloud: config.AWS, GPUCount: 8, NodeCount: 2}, Service{}},
		"training-unstated": {Access{Reservation: "kind-h100", Intent: config.Training, Kubeconfig: "/home/ada's/a b"}, config.Reservation{Cloud: config.Kind, GPUCount: 1}, Service{}},
		"inference":         {Access{Reservation: "gcp-h100", Intent: config.Inference, Kubeconfig: "/k"}, config.Reservation{Cloud: config.GCP}, Service{}},
		"inference-service": {Access{Reservation: "gcp-h100", Intent: config.Inference, Kubeconfig: "/k"}, config.Reservation{Cloud: config.GCP}, Service{"llm", "frontend", "8080"}},
		"no-intent":         {Access{Reservation: "gcp-h100", Kubeconfig: "/k"}, config.Reservation{Cloud: config.GCP}, Service{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, err := tt.access.WithSteps(tt.row, tt.service)
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			for _, s := range a.Steps {
				b.WriteString("# " + s.Title + "\n" + s.Commands + "\n\n")
			}
			golden.Compare(t, "testdata/"+name+".txt", b.String())
			if out, err := shell(t, b.String()); err != nil { // with kubectl and curl that do nothing
				t.Errorf("a shell says: %v\n%s", err, out)
			}
		})
	}
}

func shell(t *testing.T, text string) (string, error) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "bash", "-euc", "kubectl() { cat > /dev/null; }; curl() { :; }\n"+text).CombinedOutput()
	return string(out), err
}

func TestParseService(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Service{
		"llm/frontend:8000": {"llm", "frontend", "8000"},
		"llm/frontend":      {}, "frontend:80": {}, "a/b:http": {}, "a/b:80; rm -rf /": {}, "": {}, "A/b:80": {},
	} {
		got, err := ParseService(text)
		if got != want || (err == nil) != (want != Service{}) {
			t.Errorf("%q is %v, %v", text, got, err)
		}
	}
}

// job is what the first step of training would create.
func job(t *testing.T, row config.Reservation) map[string]any {
	t.Helper()
	text, err := trainJob(Access{Reservation: row.Name}, row)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]any{}
	if err := yaml.UnmarshalStrict([]byte(text), &out); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return out
}
