package infiniband

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

const maxLine = 64 << 10

var (
	caLine       = regexp.MustCompile(`^(CA|Switch|Router|iWARP RNIC|\?\?\?) '([^']+)'$`)
	statPortLine = regexp.MustCompile(`^Port (\d+):$`)
)

// ParseStat parses the output of ibstat. A missing or unknown value is an error that states
// the expected format.
func ParseStat(data []byte) ([]HCA, error) {
	return guard.Parse("ibstat", func() ([]HCA, error) { return parseStat(data) })
}

func parseStat(data []byte) ([]HCA, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, errors.New("read ibstat: no output; expected blocks that begin with CA 'mlx5_0'")
	}
	if !utf8.Valid(data) {
		return nil, errors.New("read ibstat: the output is not UTF-8 text")
	}
	var p parser
	sc := bufio.NewScanner(bytes.NewReader(data))
	sc.Buffer(nil, maxLine)
	for n := 1; sc.Scan(); n++ {
		line := strings.TrimSpace(sc.Text())
		if line == "" {
			continue
		}
		if strings.HasPrefix(line, "ibpanic:") || strings.HasPrefix(line, "ibwarn:") || strings.Contains(line, ": iberror:") {
			return nil, fmt.Errorf("read ibstat: line %d: ibstat failed, devices can be missing: %.200s", n, line)
		}
		if err := p.line(line); err != nil {
			return nil, fmt.Errorf("read ibstat: line %d: %w", n, err)
		}
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("read ibstat: %w", err)
	}
	if err := p.endCA(); err != nil {
		return nil, fmt.Errorf("read ibstat: %w", err)
	}
	return p.hcas, nil
}

// parser is the state of the parser: the open adapter and its open port.
type parser struct {
	hcas  []HCA
	names map[string]bool
	kind  string // of the adapter: CA, or another kind of device
	ca    *block
	port  *block
	ports int // "Number of ports" of the adapter
}

// block is one adapter or port and the keys read so far.
type block struct {
	hca  HCA
	port HCAPort
	keys map[string]bool
}

func (p *parser) line(line string) error {
	if m := caLine.FindStringSubmatch(line); m != nil {
		if err := p.endCA(); err != nil {
			return err
		}
		if p.names == nil {
			p.names = map[string]bool{}
		}
		if p.names[m[2]] {
			return fmt.Errorf("duplicate adapter %s", m[2])
		}
		p.names[m[2]] = true
		p.ca, p.kind, p.ports = &block{hca: HCA{Name: m[2]}, keys: map[string]bool{}}, m[1], 0
		return nil
	}
	if p.ca == nil {
		return fmt.Errorf("%.80q: expected CA 'name'", line)
	}
	if m := statPortLine.FindStringSubmatch(line); m != nil {
		if err := p.endPort(); err != nil {
			return err
		}
		number, err := strconv.Atoi(m[1])
		if err != nil {
			return fmt.Errorf("invalid port number: %w", err)
		}
		p.port = &block{port: HCAPort{Number: number}, keys: map[string]bool{}}
		return nil
	}
	key, value, ok := strings.Cut(line, ":")
	if !ok {
		return fmt.Errorf("%.80q: expected \"key: value\"", line)
	}
	value = strings.TrimSpace(value)
	switch key {
	case p.kind + " type":
		key = keyType
	case keyType:
		return fmt.Errorf("%.80q: expected \"%s type\"", line, p.kind)
	}
	b, set := p.ca, p.ca.setHCA
	if p.port != nil {
		b, set = p.port, p.port.setPort
	} else if key == keyPorts {
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 {
			return fmt.Errorf("invalid number of ports %q: must be a positive integer", value)
		}
		p.ports = n
	}
	if b.keys[key] {
		return fmt.Errorf("duplicate key %q", key)
	}
	b.keys[key] = true
	if err := set(key, value); err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	return nil
}

// endCA closes the open adapter and its open port.
func (p *parser) endCA() error {
	if p.ca == nil {
		return nil
	}
	if err := p.endPort(); err != nil {
		return err
	}
	name := p.ca.hca.Name
	if missing := p.ca.missing(hcaKeys); missing != "" {
		return fmt.Errorf("adapter %s has no %q: the output is truncated", name, missing)
	}
	if got := len(p.ca.hca.Ports); got != p.ports {
		return fmt.Errorf("adapter %s has %d ports, the output lists %d: the output is truncated", name, p.ports, got)
	}
	p.hcas = append(p.hcas, p.ca.hca)
	p.ca = nil
	return nil
}

func (p *parser) endPort() error {
	if p.port == nil {
		return nil
	}
	if missing := p.port.missing(statPortKeys); missing != "" {
		return fmt.Errorf("port %d of adapter %s has no %q: the output is truncated", p.port.port.Number, p.ca.hca.Name, missing)
	}
	p.ca.hca.Ports = append(p.ca.hca.Ports, p.port.port)
	p.port = nil
	return nil
}
