package cluster

import (
	"path"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/world/collective"
	"github.com/firstlight/firstlight/internal/world/training"
)

// kind of a container's program.
type kind string

const (
	kindOther      kind = "" // runs without effect
	kindCollective kind = "collective"
	kindTraining   kind = "training"
	kindLoad       kind = "load"
	kindInference  kind = "inference"
	kindExporter   kind = "exporter"
	kindDevices    kind = "devices"
	kindResponder  kind = "responder"
	kindResolver   kind = "resolver"
	kindFirstlight kind = "firstlight"
	kindRay        kind = "ray"
)

// commandOf is the text of a container's command.
func commandOf(c corev1.Container) string {
	return strings.Join(append(append([]string{}, c.Command...), c.Args...), "\n")
}

// recognise determines a container's program from its command or image.
func recognise(c corev1.Container) kind {
	text := commandOf(c)
	if _, ok := collective.ProgramIn(text); ok {
		return kindCollective
	}
	for _, known := range []struct {
		word string
		kind kind
	}{
		{"pretrain_gpt.py", kindTraining},
		{"torchtitan", kindTraining},
		{"dcgmproftester", kindLoad},
		{"vllm serve", kindInference},
		{"nvidia-smi -L", kindDevices},
		{"nvidia-smi -q -x", kindDevices},
		{"cat /host/etc/os-release", kindDevices},
		{"ThreadingHTTPServer", kindResponder},
		{"getent ahosts ", kindResolver},
		{"ray start ", kindRay},
	} {
		if strings.Contains(text, known.word) {
			return known.kind
		}
	}
	// It runs on this machine: only the command that a gate's pod needs.
	if len(c.Command) > 1 && path.Base(c.Command[0]) == firstlightProgram && c.Command[1] == "load" {
		return kindFirstlight
	}
	if strings.Contains(c.Image, "/dcgm-exporter:") {
		return kindExporter // the image's entrypoint
	}
	return kindOther
}

// environment has a container's literal variables.
type environment map[string]string

func environmentOf(c corev1.Container) environment {
	env := environment{}
	for _, e := range c.Env {
		if e.ValueFrom == nil {
			env[e.Name] = e.Value
		}
	}
	return env
}

// number returns a positive integer, or def if it is missing; false if it is invalid.
func (e environment) number(name string, def int) (int, bool) {
	text, ok := e[name]
	if !ok || text == "" {
		return def, def > 0
	}
	n, err := strconv.Atoi(text)
	return n, err == nil && n > 0
}

// framework that a training script starts.
func framework(c corev1.Container, env environment) string {
	if f := env["FRAMEWORK"]; f != "" {
		return strings.ToLower(f)
	}
	if strings.Contains(strings.Join(append(append([]string{}, c.Command...), c.Args...), "\n"), "pretrain_gpt.py") {
		return training.Megatron
	}
	return training.Torchtitan
}
