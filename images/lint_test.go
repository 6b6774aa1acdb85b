package images

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// instruction is one instruction of a Dockerfile, with the comment right above it.
type instruction struct {
	line    int
	word    string // upper case
	rest    string // without continuations
	comment string
}

// parse joins continued lines. The folder's files have neither heredocs nor another escape character,
// which it refuses.
func parse(text string) ([]instruction, error) {
	var out []instruction
	var comment, joined strings.Builder
	first := 0
	for i, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(trimmed, "#"):
			if strings.Contains(trimmed, "escape=") {
				return nil, fmt.Errorf("line %d: another escape character", i+1)
			}
			comment.WriteString(strings.TrimSpace(strings.TrimPrefix(trimmed, "#")) + " ")
			continue
		case trimmed == "" && joined.Len() == 0:
			comment.Reset()
			continue
		case strings.Contains(trimmed, "<<"):
			return nil, fmt.Errorf("line %d: a heredoc", i+1)
		}
		if joined.Len() == 0 {
			first = i + 1
		}
		if more, continued := strings.CutSuffix(trimmed, `\`); continued {
			joined.WriteString(more + " ")
			continue
		}
		joined.WriteString(trimmed)
		word, rest, _ := strings.Cut(joined.String(), " ")
		out = append(out, instruction{first, strings.ToUpper(word), strings.TrimSpace(rest), strings.TrimSpace(comment.String())})
		joined.Reset()
		comment.Reset()
	}
	if joined.Len() > 0 {
		return nil, fmt.Errorf("line %d: the last line is continued", first)
	}
	return out, nil
}

var (
	variable = regexp.MustCompile(`\$\{?(\w+)\}?`)
	digest   = regexp.MustCompile(`@sha256:[0-9a-f]{64}$`)
	download = regexp.MustCompile(`\b(?:curl|wget)\b`)
)

// arguments are the ARGs with their defaults.
func arguments(file []instruction) map[string]string {
	out := map[string]string{}
	for _, i := range file {
		if name, value, ok := strings.Cut(i.rest, "="); i.word == "ARG" && ok {
			out[name] = value
		}
	}
	return out
}

// lint returns the problems of a Dockerfile. Images in undigested may lack a digest.
func lint(text string, undigested []string) []string {
	file, err := parse(text)
	if err != nil {
		return []string{err.Error()}
	}
	var out []string
	add := func(i instruction, format string, args ...any) {
		out = append(out, fmt.Sprintf("line %d: %s", i.line, fmt.Sprintf(format, args...)))
	}
	args := arguments(file)
	stages := map[string]bool{}
	user := instruction{}
	for _, i := range file {
		switch i.word {
		case "FROM":
			fields := strings.Fields(i.rest)
			image := variable.ReplaceAllStringFunc(fields[0], func(v string) string { return args[strings.Trim(v, "${}")] })
			if !stages[image] {
				for _, problem := range unpinned(image, undigested) {
					add(i, "%s", problem)
				}
			}
			if len(fields) == 3 {
				stages[fields[2]] = true
			}
			user = instruction{}
		case "USER":
			user = i
		case "ADD":
			if strings.Contains(i.rest, "://") && !strings.Contains(i.rest, "--checksum=sha256:") {
				add(i, "ADD from a URL without --checksum")
			}
		case "RUN":
			for _, problem := range badRun(i.rest) {
				add(i, "%s", problem)
			}
		}
	}
	switch name, _, _ := strings.Cut(user.rest, ":"); {
	case len(file) == 0 || user.word == "":
		out = append(out, "the last stage has no USER")
	case (name == "0" || name == "root") && !strings.HasPrefix(user.comment, "root: "):
		add(user, "USER %s without a comment \"root: reason\" above it", name)
	}
	return out
}

func unpinned(image string, undigested []string) []string {
	var out []string
	bare := digest.ReplaceAllString(image, "")
	path := bare[strings.LastIndexByte(bare, '/')+1:]
	_, tag, tagged := strings.Cut(path, ":")
	if !tagged || tag == "" || tag == "latest" {
		out = append(out, fmt.Sprintf("base image %q has no tag of a version", image))
	}
	if bare == image && !slices.Contains(undigested, image) {
		out = append(out, fmt.Sprintf("base image %q has no digest, and versions.yaml no reason", image))
	}
	return out
}

func badRun(command string) []string {
	var out []string
	if download.MatchString(command) && !strings.Contains(command, "sha256sum -c") {
		out = append(out, "a download without sha256sum -c")
	}
	if strings.Contains(command, "git clone") && !strings.Contains(command, "--branch") {
		out = append(out, "git clone without --branch of a version")
	}
	if strings.Contains(command, "apt-get upgrade") || strings.Contains(command, "apt-get dist-upgrade") {
		out = append(out, "apt-get upgrade: take a newer base image")
	}
	if strings.Contains(command, "apt-get install") {
		if !strings.Contains(command, "--no-install-recommends") {
			out = append(out, "apt-get install without --no-install-recommends")
		}
		if !strings.Contains(command, "rm -rf /var/lib/apt/lists") {
			out = append(out, "apt-get install without rm -rf /var/lib/apt/lists/*")
		}
	}
	if strings.Contains(command, "pip install") && !strings.Contains(command, "--no-cache-dir") {
		out = append(out, "pip install without --no-cache-dir")
	}
	return out
}
