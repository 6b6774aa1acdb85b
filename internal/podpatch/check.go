package podpatch

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	kjson "sigs.k8s.io/json"
)

// Problem is one reason why a patch is refused.
type Problem struct {
	// Path of the field in the patch, such as "spec.containers.0.env.1.value"; empty for the
	// whole patch.
	Path    string
	Message string
}

// remedy is for a patch that removes or changes what the gate has set.
const remedy = "delete this field from the patch: the gate judges by the value that it sets"

// Error is the problem as one line.
func (p Problem) Error() string {
	if p.Path == "" {
		return p.Message
	}
	return p.Path + ": " + p.Message
}

// Check returns the problems of a patch of a pod template that can be found without the pod.
// container is the name of the pod's container; empty for a patch of several kinds of pods, which
// may not patch containers.
func Check(patch map[string]any, container string) []Problem {
	var problems []Problem
	if len(patch) == 0 {
		return nil
	}
	walk("", patch, func(path string, value any) {
		switch key := path[strings.LastIndex(path, ".")+1:]; {
		case strings.HasPrefix(key, "$"):
			problems = append(problems, Problem{path, "directives are not allowed: a patch may add to the pod, not remove from it; " + remedy})
		case value == nil:
			problems = append(problems, Problem{path, "null is not allowed: a patch may add to the pod, not remove from it; " + remedy})
		}
	})
	if len(problems) > 0 {
		return problems
	}
	template, problems := decode(patch)
	if len(problems) > 0 {
		return problems
	}
	return slices.Concat(reserved(template), containers(template, container), literals(template))
}

// walk calls visit with each value of a tree and its path, in a fixed order.
func walk(path string, value any, visit func(path string, value any)) {
	if path != "" {
		visit(path, value)
	}
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			walk(join(path, key), v[key], visit)
		}
	case []any:
		for i, item := range v {
			walk(join(path, fmt.Sprint(i)), item, visit)
		}
	}
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// index is how the decoder writes the index of a list.
var (
	index   = regexp.MustCompile(`\[(\d+)\]`)
	unknown = regexp.MustCompile(`^unknown field "(.+)"$`)
)

// decode reads the patch as a pod template and refuses fields that a pod template does not have.
func decode(patch map[string]any) (corev1.PodTemplateSpec, []Problem) {
	var template corev1.PodTemplateSpec
	data, err := json.Marshal(patch)
	if err != nil {
		return template, []Problem{{Message: fmt.Sprintf("cannot be written as JSON: %v", err)}}
	}
	var problems []Problem
	strict, err := kjson.UnmarshalStrict(data, &template)
	if err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return template, []Problem{{wrong.Field, "invalid type: must not be a " + wrong.Value}}
		}
		return template, []Problem{{Message: "is not a pod template: " + err.Error()}}
	}
	for _, err := range strict {
		if g := unknown.FindStringSubmatch(err.Error()); g != nil {
			problems = append(problems, Problem{index.ReplaceAllString(g[1], ".$1"), "unknown field of a pod template"})
			continue
		}
		problems = append(problems, Problem{Message: err.Error()})
	}
	return template, problems
}

// reserved refuses fields by which a pod avoids the scheduler under test.
func reserved(template corev1.PodTemplateSpec) []Problem {
	var problems []Problem
	if template.Spec.NodeName != "" {
		problems = append(problems, Problem{"spec.nodeName", "must not be set: the scheduler places the pods; use spec.nodeSelector"})
	}
	if template.Spec.SchedulerName != "" {
		problems = append(problems, Problem{"spec.schedulerName", "must not be set: set gpustack.gangScheduler"})
	}
	return problems
}

// containers refuses containers that the pod does not have.
func containers(template corev1.PodTemplateSpec, container string) []Problem {
	var problems []Problem
	for i, c := range template.Spec.Containers {
		path := fmt.Sprintf("spec.containers.%d", i)
		switch {
		case container == "":
			problems = append(problems, Problem{path, "must not be set here: patch the container in the block of its gate"})
		case c.Name != container:
			problems = append(problems, Problem{path + ".name", fmt.Sprintf(
				"unknown container %q: want %s; for a sidecar use an init container with restartPolicy: Always, which ends with the pod", c.Name, container)})
		}
	}
	for i, c := range template.Spec.InitContainers {
		if c.Name == "" || c.Image == "" {
			problems = append(problems, Problem{fmt.Sprintf("spec.initContainers.%d", i), "name and image must be set"})
		}
	}
	return problems
}

// secret are names of environment variables whose values are credentials.
var secret = regexp.MustCompile(`(?i)(TOKEN|PASSWORD|PASSWD|SECRET|CREDENTIAL|API_?KEY|ACCESS_?KEY)`)

// literals refuses credentials in the site file, which is part of the evidence.
func literals(template corev1.PodTemplateSpec) []Problem {
	var problems []Problem
	for _, list := range []struct {
		path       string
		containers []corev1.Container
	}{{"spec.initContainers", template.Spec.InitContainers}, {"spec.containers", template.Spec.Containers}} {
		for i, c := range list.containers {
			for j, e := range c.Env {
				if e.Value != "" && secret.MatchString(e.Name) {
					problems = append(problems, Problem{fmt.Sprintf("%s.%d.env.%d.value", list.path, i, j),
						fmt.Sprintf("a site file has no secrets: use valueFrom.secretKeyRef for %s", e.Name)})
				}
			}
		}
	}
	return problems
}
