package access

import (
	_ "embed" // the TrainJob
	"fmt"
	"regexp"
	"strings"
	"text/template"

	"github.com/firstlight/firstlight/internal/reservation/config"
)

// Step is a command with its purpose.
type Step struct {
	Title    string `json:"title"`
	Commands string `json:"commands"`
}

// Service is the endpoint of a model: namespace, name and port.
type Service struct{ Namespace, Name, Port string }

var service = regexp.MustCompile(`^([a-z0-9-]+)/([a-z0-9-]+):([0-9]+)$`)

// ParseService parses NAMESPACE/NAME:PORT.
func ParseService(text string) (Service, error) {
	m := service.FindStringSubmatch(text)
	if m == nil {
		return Service{}, fmt.Errorf("service %q: must be NAMESPACE/NAME:PORT", text)
	}
	return Service{m[1], m[2], m[3]}, nil
}

// WithSteps adds the commands for a row of the registry. A zero service adds a command that finds
// it.
func (a Access) WithSteps(row config.Reservation, s Service) (Access, error) {
	a.Steps = []Step{{
		Title:    "connect with your own identity: the file has no credential, kubectl runs the plugin of your cloud",
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
			Step{"watch its progress", "kubectl get trainjobs\nkubectl logs -f -l jobset.sigs.k8s.io/replicatedjob-name=node --prefix"})
	case config.Inference:
		a.Steps = append(a.Steps, serving(s)...)
	}
	return a, nil
}

func serving(s Service) []Step {
	var out []Step
	if s == (Service{}) {
		out = append(out, Step{"find the service of the OpenAI-compatible endpoint, for the commands below", "kubectl get services --all-namespaces"})
		s = Service{"NAMESPACE", "SERVICE", "8000"}
	}
	return append(out,
		Step{"forward a local port to it, in a second terminal", fmt.Sprintf("kubectl -n %s port-forward svc/%s 8000:%s", s.Namespace, s.Name, s.Port)},
		Step{"send a request", "curl -s http://127.0.0.1:8000/v1/models\n" +
			"curl -s http://127.0.0.1:8000/v1/chat/completions -H 'Content-Type: application/json' \\\n" +
			`  -d '{"model": "MODEL", "messages": [{"role": "user", "content": "Hello"}], "max_tokens": 16}'`})
}

//go:embed trainjob.yaml
var trainJobText string

var trainJobTemplate = template.Must(template.New("trainjob").Parse(trainJobText))

// trainJob returns a job that uses every GPU of a row and verifies the links between them.
func trainJob(a Access, row config.Reservation) (string, error) {
	var b strings.Builder
	err := trainJobTemplate.Execute(&b, struct {
		Reservation string
		Nodes, GPUs int
		Stated      bool
	}{a.Reservation, nodes(row), row.GPUCount, row.NodeCount > 0})
	if err != nil {
		return "", fmt.Errorf("render the TrainJob: %w", err)
	}
	return b.String(), nil
}

// nodes returns 1 if the registry states no number.
func nodes(row config.Reservation) int { return max(row.NodeCount, 1) }

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

var plain = regexp.MustCompile(`^[A-Za-z0-9_./@:+-]+$`)

// quoted quotes a word for a shell.
func quoted(s string) string {
	if plain.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
