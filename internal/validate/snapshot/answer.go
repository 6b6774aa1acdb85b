package snapshot

import (
	"errors"
	"fmt"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/guard"
	"github.com/firstlight/firstlight/internal/probe/nvidia"
)

// The lines of the agent's log that are not output of its commands. A log without the first and the
// last line is truncated.
const (
	logBegin   = "firstlight-agent begins"
	logRelease = "firstlight-agent os-release"
	logSMI     = "firstlight-agent nvidia-smi"
	logEnd     = "firstlight-agent ends"
)

// Answer is what the agent on a node has read.
type Answer struct {
	// Release has the fields of /etc/os-release; nil if it was not read.
	Release map[string]string `json:"release,omitempty"`
	// Products are the names of the pod's GPUs as nvidia-smi prints them, Driver is the version of
	// their driver; empty if nvidia-smi was not run.
	Products []string `json:"products,omitempty"`
	Driver   string   `json:"driver,omitempty"`
}

// parseAnswer reads the log of an agent that was asked for want.
func parseAnswer(log []byte, want request) (Answer, error) {
	return guard.Parse("log of the agent", func() (Answer, error) {
		sections, err := sectionsOf(string(log))
		if err != nil {
			return Answer{}, err
		}
		var a Answer
		if want.release {
			if a.Release, err = parseRelease(sections[logRelease]); err != nil {
				return Answer{}, fmt.Errorf("read /etc/os-release of the node: %w", err)
			}
		}
		if want.gpu {
			smi, err := nvidia.ParseSMI([]byte(sections[logSMI]))
			if err != nil {
				return Answer{}, fmt.Errorf("read the output of nvidia-smi -q -x: %w", err)
			}
			for _, g := range smi.GPUs {
				a.Products = append(a.Products, g.Product)
			}
			a.Driver = smi.Driver
		}
		return a, nil
	})
}

// sectionsOf splits a complete log into the outputs of its commands.
func sectionsOf(log string) (map[string]string, error) {
	body, begun := strings.CutPrefix(log, logBegin+"\n")
	if !begun {
		return nil, fmt.Errorf("truncated log: must begin with %q", logBegin)
	}
	body, ended := strings.CutSuffix(body, logEnd+"\n")
	if !ended {
		return nil, fmt.Errorf("truncated log: must end with %q", logEnd)
	}
	out, section, begin, at := map[string]string{}, "", 0, 0
	end := func() {
		if section != "" {
			out[section] = body[begin:at]
		}
	}
	for line := range strings.Lines(body) {
		name := strings.TrimSuffix(line, "\n")
		if name == logRelease || name == logSMI {
			end()
			if _, twice := out[name]; twice {
				return nil, fmt.Errorf("the log has the line %q twice", name)
			}
			section, begin = name, at+len(line)
		} else if section == "" {
			return nil, fmt.Errorf("unexpected line %.80q at the beginning of the log", name)
		}
		at += len(line)
	}
	end()
	return out, nil
}

// parseRelease reads os-release(5): lines KEY=VALUE, values quoted as in a shell.
func parseRelease(text string) (map[string]string, error) {
	out := map[string]string{}
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok || key == "" || strings.Trim(key, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "" {
			return nil, fmt.Errorf("invalid line %.80q: must be KEY=VALUE", line)
		}
		value, err := unquote(value)
		if err != nil {
			return nil, fmt.Errorf("invalid value of %s: %w", key, err)
		}
		if before, twice := out[key]; twice && before != value {
			return nil, fmt.Errorf("%s is both %q and %q", key, before, value)
		}
		out[key] = value
	}
	if out["ID"] == "" {
		return nil, errors.New("it has no ID")
	}
	return out, nil
}

// unquote reads one word of a shell, without expansions.
func unquote(word string) (string, error) {
	quote := ""
	if word != "" && (word[0] == '"' || word[0] == '\'') {
		quote = word[:1]
		if len(word) < 2 || !strings.HasSuffix(word, quote) {
			return "", fmt.Errorf("%.80s has no closing quote", word)
		}
		word = word[1 : len(word)-1]
	}
	if quote == "'" {
		if strings.Contains(word, quote) {
			return "", fmt.Errorf("%.80s has a quote inside", word)
		}
		return word, nil
	}
	var out strings.Builder
	for i := 0; i < len(word); i++ {
		switch c := word[i]; {
		case c == '\\' && i+1 < len(word):
			i++
			out.WriteByte(word[i])
		case c == '\\' || c == '"' || c == '$' || c == '`' || quote == "" && strings.IndexByte(" \t'", c) >= 0:
			return "", fmt.Errorf("%.80s has an unquoted %q", word, c)
		default:
			out.WriteByte(c)
		}
	}
	return out.String(), nil
}
