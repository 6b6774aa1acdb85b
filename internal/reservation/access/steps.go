package access

import (
	_ "embed" // the job
	"fmt"
	"regexp"
	"strings"
	"text/template"

	"github.com/firstlight/firstlight/internal/reservation/config"
)

// Step is something to type, and what for.
type Step struct {
	Title    string `json:"title"`
	Commands string `json:"commands"`
}

// Service is where models are served: namespace, name and port.
type Service struct{ Namespace, Name, Port string }

var service = regexp.MustCompile(`^([a-z0-9-]+)/([a-z0-9-]+):([0-9]+)$`)

// ParseService reads NAMESPACE/NAME:PORT.
func ParseService(text string) (Service, error) {
	m := service.FindStringSubmatch(text)
	if m == nil {
		return Service{}, fmt.Errorf("service %q: want NAMESPACE/NAME:PORT", text)
	}
	return Service{m[1], m[2], m[3]}, nil
}

// WithSteps is the access with what to type, for a row of the registry. The zero service is
// one that has to be looked for.
func (a Access) WithSteps(row config.Reservation, s Service) (Access, error) {
	a.Steps = []Step{{
		Title:    "reach it as yourself: the file holds no credential, kubectl runs what asks the cloud for yours",
		Commands: "export KUBECONFIG=" + quoted(a.Kubeconfig) + "\nkubectl get nodes",
	}}
	switch a.Intent {
	case config.Training:
		job, err := trainJob(a, row)
		if err != nil {
			return a, err
		}
		a.Steps = append(a.Steps,
			Step{fmt.Sprintf("train on all of it: %s, %s each", count(nodes(row), "node"), count(row.GPUCount, "GPU")), "kubectl create -f - <<'JOB'\n" + job + "JOB"},
			Step{"see how it goes", "kubectl get trainjobs\nkubectl logs -f -l jobset.sigs.k8s.io/replicatedjob-name=node --prefix"})
	case config.Inference:
		a.Steps = append(a.Steps, serving(s)...)
	}
	return a, nil
}

func serving(s Service) []Step {
	var out []Step
	if s == (Service{}) {
		out = append(out, Step{"find the service of the OpenAI-compatible endpoint, for the lines below", "kubectl get services --all-namespaces"})
		s = Service{"NAMESPACE", "SERVICE", "8000"}
	}
	return append(out,
		Step{"forward a port of this machine to it, in a terminal of its own", fmt.Sprintf("kubectl -n %s port-forward svc/%s 8000:%s", s.Namespace, s.Name, s.Port)},
		Step{"ask it", "curl -s http://127.0.0.1:8000/v1/models\n" +
			"curl -s http://127.0.0.1:8000/v1/chat/completions -H 'Content-Type: application/json' \\\n" +
			`  -d '{"model": "MODEL", "messages": [{"role": "user", "content": "Hello"}], "max_tokens": 16}'`})
}

//go:embed trainjob.yaml
var trainJobText string

var trainJobTemplate = template.Must(template.New("trainjob").Parse(trainJobText))

// trainJob is a job that takes every GPU of a row, and proves that they reach each other.
func trainJob(a Access, row config.Reservation) (string, error) {
	var b strings.Builder
	err := trainJobTemplate.Execute(&b, struct {
		Reservation string
		Nodes, GPUs int
		Stated      bool
	}{a.Reservation, nodes(row), row.GPUCount, row.NodeCount > 0})
	if err != nil {
		return "", fmt.Errorf("make a TrainJob: %w", err)
	}
	return b.String(), nil
}

// nodes of a row: one where the registry states none.
func nodes(row config.Reservation) int { return max(row.NodeCount, 1) }

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

var plain = regexp.MustCompile(`^[A-Za-z0-9_./@:+-]+$`)

// quoted is a word as a shell takes it.
func quoted(s string) string {
	if plain.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
