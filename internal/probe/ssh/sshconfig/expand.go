package sshconfig

import (
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

var variable = regexp.MustCompile(`\$\{([A-Za-z0-9_]+)\}`)

// expand replaces the tokens of ssh_config(5); in a path also ~ and ${VARIABLE}.
func (r *resolver) expand(o option, text string, path bool) string {
	if path {
		text = tilde(variable.ReplaceAllStringFunc(text, func(v string) string {
			value, ok := os.LookupEnv(v[2 : len(v)-1])
			if !ok {
				r.problem(o, "environment variable %s is not set", v)
			}
			return value
		}))
	}
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '%' || i+1 == len(text) {
			out.WriteByte(text[i])
			continue
		}
		i++
		value, ok := r.token(text[i])
		if !ok {
			r.problem(o, "token %%%c is not supported: write the value", text[i])
		}
		out.WriteString(value)
	}
	return out.String()
}

func (r *resolver) token(name byte) (string, bool) {
	switch name {
	case '%':
		return "%", true
	case 'd':
		return tilde("~"), true
	case 'i':
		return strconv.Itoa(os.Getuid()), true
	case 'u':
		u, err := user.Current()
		if err != nil {
			return "", false
		}
		return u.Username, true
	}
	value, ok := r.tokens[name]
	return value, ok
}

// tilde replaces ~ at the beginning of a path by the home directory.
func tilde(path string) string {
	if path != "~" && !strings.HasPrefix(path, "~/") {
		return path
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return path
	}
	return filepath.Join(home, path[1:])
}
