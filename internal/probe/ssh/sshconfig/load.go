package sshconfig

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	parser "github.com/kevinburke/ssh_config"
)

// Config is a file with the files that it includes.
type Config struct {
	file    string
	options []option
}

// option is one line.
type option struct {
	key string // in lower case
	// args are the arguments; a quoted one may contain spaces.
	args []string
	file string
	line int
	// within are the Host lines around it, by inclusion: all must match.
	within [][]pattern
}

func (o option) place() string { return fmt.Sprintf("%s:%d", o.file, o.line) }

// Limits: ssh reads 16 levels of files. The parser copies a line again for each of its bytes.
const (
	maxDepth = 16
	maxSize  = 1 << 20
	maxLine  = 4096
)

// Load reads a file and the files that it includes.
func Load(file string) (*Config, error) {
	c := &Config{file: file}
	if err := c.add(file, nil, 0); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *Config) add(file string, within [][]pattern, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("%s: more than %d levels of Include: does a file include itself?", file, maxDepth)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read SSH configuration: %w", err)
	}
	if len(data) > maxSize {
		return fmt.Errorf("%s: not an SSH configuration: larger than %d MiB", file, maxSize>>20)
	}
	for line := range bytes.Lines(data) {
		if len(line) > maxLine {
			return fmt.Errorf("%s: not an SSH configuration: a line is longer than %d bytes", file, maxLine)
		}
	}
	config, err := parse(file, data)
	if err != nil {
		return err
	}
	for _, block := range config.Hosts {
		header, _, _ := strings.Cut(block.String(), "\n")
		if unsupportedMatch.MatchString(header) {
			return fmt.Errorf("%s: %q is not supported: %s", file, strings.TrimSpace(header), onlyHost)
		}
		patterns, err := patternsOf(block)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		inner := append(slices.Clone(within), patterns)
		for _, node := range block.Nodes {
			switch node := node.(type) {
			case *parser.KV:
				o := option{key: strings.ToLower(node.Key), file: file, line: node.Pos().Line, within: inner}
				if o.args, err = arguments(node); err != nil {
					return fmt.Errorf("%s: %s: %w", o.place(), node.Key, err)
				}
				c.options = append(c.options, o)
			case *parser.Include:
				for _, included := range includes(file, node) {
					if err := c.add(included, inner, depth+1); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// onlyHost is the remedy for a Match line.
const onlyHost = "use Host blocks and Match all only, or name another file in reach.ssh.configFile"

var (
	// unsupportedMatch is a Match line other than Match all.
	unsupportedMatch = regexp.MustCompile(`(?i)^\s*match\b(?:[ =\t]+)(?:all\s*\S|[^a\s]|a[^l\s]|al[^l\s]|all[^\s])`)
	position         = regexp.MustCompile(`^\((\d+), \d+\): (?s:(.*))$`)
)

// parse parses the lines of a file. The parser panics on some invalid input.
func parse(file string, data []byte) (config *parser.Config, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%s: not an SSH configuration: %v", file, r)
		}
	}()
	config, err = parser.DecodeBytes(data)
	if err == nil {
		return config, nil
	}
	text := strings.ReplaceAll(err.Error(), "ssh_config: ", "")
	if m := position.FindStringSubmatch(text); m != nil {
		file, text = file+":"+m[1], m[2]
	}
	if strings.Contains(text, "Match") {
		text += ": " + onlyHost
	}
	return nil, fmt.Errorf("%s: %s", file, text)
}

// arguments are the arguments of a line.
func arguments(node *parser.KV) ([]string, error) {
	value := strings.TrimSpace(node.Value)
	if value == "" {
		return nil, errors.New("has no argument")
	}
	if strings.Contains(value, `"`) {
		return nil, errors.New("quotes around a part of the arguments are not supported")
	}
	if strings.Contains(node.String(), `"`+value+`"`) {
		return []string{value}, nil
	}
	return strings.Fields(value), nil
}

// includes are the files of an Include line: relative to ~/.ssh, or to /etc/ssh in a file there.
func includes(file string, node *parser.Include) []string {
	_, list, _ := strings.Cut(strings.TrimSpace(strings.Replace(node.String(), "=", " ", 1)), " ")
	list, _, _ = strings.Cut(list, "#")
	var out []string
	for name := range strings.FieldsSeq(list) {
		name = tilde(strings.Trim(name, `"`))
		if !filepath.IsAbs(name) {
			dir := tilde("~/.ssh")
			if strings.HasPrefix(filepath.Clean(file), "/etc/ssh/") {
				dir = "/etc/ssh"
			}
			name = filepath.Join(dir, name)
		}
		// As for ssh, a pattern without files is valid; the parser has refused invalid patterns.
		found, _ := filepath.Glob(name)
		out = append(out, found...)
	}
	return out
}

// pattern is one pattern of a Host line.
type pattern struct {
	expr *regexp.Regexp
	not  bool
}

func patternsOf(block *parser.Host) ([]pattern, error) {
	var out []pattern
	for _, p := range block.Patterns {
		for text := range strings.FieldsSeq(p.String()) {
			if strings.Contains(text, `"`) {
				return nil, fmt.Errorf("host pattern %s: quotes are not supported", text)
			}
			bare := strings.TrimPrefix(text, "!")
			expr := strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(regexp.QuoteMeta(bare))
			compiled, err := regexp.Compile("^(?s:" + expr + ")$")
			if err != nil {
				return nil, fmt.Errorf("host pattern %s: %w", text, err)
			}
			out = append(out, pattern{expr: compiled, not: bare != text})
		}
	}
	return out, nil
}

// matches reports whether a host matches one of the patterns and none that is negated.
func matches(patterns []pattern, host string) bool {
	found := false
	for _, p := range patterns {
		if p.expr.MatchString(host) {
			if p.not {
				return false
			}
			found = true
		}
	}
	return found
}
