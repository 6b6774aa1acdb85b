package certificate

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"codeberg.org/go-pdf/fpdf"
)

// ErrCharacters is returned for a text that the print's fonts cannot show.
var ErrCharacters = errors.New("a character that the print cannot show")

// The page is A4, in mm.
const (
	pageWidth  = 210.0
	pageMargin = 14.0
	textWidth  = pageWidth - 2*pageMargin
	pageBottom = 18.0
	lineHeight = 3.8
	textSize   = 8.0
	font       = "Helvetica"
)

// pdf prints the document of html.
func (c Certificate) pdf(signedBy string) ([]byte, error) {
	d := c.document(signedBy)
	p := &printer{Fpdf: fpdf.New("P", "mm", "A4", "")}
	p.SetMargins(pageMargin, pageMargin, pageMargin)
	p.SetAutoPageBreak(true, pageBottom)
	p.SetCatalogSort(true) // the same certificate gives the same bytes
	p.SetCreationDate(c.Issued)
	p.SetModificationDate(c.Issued)
	if err := p.encode(d); err != nil {
		return nil, err
	}
	p.SetTitle(d.Title+": "+d.Decision, true)
	p.SetFooterFunc(func() {
		p.SetY(-12)
		p.style("", 6.5, 0x5b6472)
		p.CellFormat(textWidth-20, 4, p.text(d.Footer), "", 0, "L", false, 0, "")
		p.CellFormat(20, 4, fmt.Sprintf("%d/{nb}", p.PageNo()), "", 0, "R", false, 0, "")
	})
	p.AliasNbPages("{nb}")
	p.AddPage()
	p.head(d)
	for _, s := range d.Sections {
		p.section(s)
	}
	p.signatures(d.Sign)
	var out bytes.Buffer
	if err := p.Output(&out); err != nil {
		return nil, fmt.Errorf("print the certificate: %w", err)
	}
	return out.Bytes(), nil
}

type printer struct {
	*fpdf.Fpdf
	text func(string) string // to the encoding of the fonts
}

// encode chooses the code page that has every character of the document: 1252 for the languages of
// Western Europe, 1250 for those of Central Europe.
func (p *printer) encode(d document) error {
	texts := []string{d.Title, d.Decision, d.Summary, d.Banner, d.Footer}
	for _, s := range d.Sections {
		texts = append(texts, s.Title, s.Text)
		for _, row := range s.Rows {
			texts = append(texts, row...)
		}
	}
	for _, s := range d.Sign {
		texts = append(texts, s.Name, s.Role, s.Organization)
	}
	all := strings.Join(texts, "")
	var missing rune
	for _, page := range []string{"cp1252", "cp1250"} {
		p.text = p.UnicodeTranslatorFromDescriptor(page)
		if missing = unprintable(all, p.text); missing == 0 {
			return nil
		}
	}
	return fmt.Errorf("%w: %q; the print has the letters of Western or of Central Europe", ErrCharacters, missing)
}

// unprintable is the first character that the encoding replaces with a dot; 0 if all are printed.
func unprintable(s string, encode func(string) string) rune {
	for _, r := range s {
		if r > 126 && encode(string(r)) == "." {
			return r
		}
	}
	return 0
}

func (p *printer) style(bold string, size float64, colour int) {
	p.SetFont(font, bold, size)
	p.SetTextColor(colour>>16, colour>>8&0xff, colour&0xff)
}

func (p *printer) head(d document) {
	if d.Banner != "" {
		p.style("B", 11, 0x6a3fb5)
		p.SetDrawColor(0x6a, 0x3f, 0xb5)
		p.CellFormat(textWidth, 8, p.text(d.Banner), "1", 1, "C", false, 0, "")
		p.Ln(3)
	}
	p.style("B", 20, 0x14181f)
	p.CellFormat(textWidth, 10, p.text(d.Title), "", 1, "L", false, 0, "")
	colour := 0xb3261e
	if d.Accepted {
		colour = 0x137a4b
	}
	p.style("B", 14, colour)
	p.CellFormat(textWidth, 9, p.text(d.Decision), "", 1, "L", false, 0, "")
	p.style("", 9, 0x14181f)
	p.MultiCell(textWidth, 4.5, p.text(d.Summary), "", "L", false)
}

func (p *printer) section(s section) {
	p.keep(22)
	p.Ln(4)
	p.style("B", 11, 0x14181f)
	p.CellFormat(textWidth, 6, p.text(s.Title), "", 1, "L", false, 0, "")
	if s.Text != "" {
		p.style("", textSize, 0x14181f)
		p.MultiCell(textWidth, lineHeight+0.4, p.text(s.Text), "", "L", false)
	}
	if len(s.Rows) == 0 {
		return
	}
	names := make([]string, len(s.Columns))
	for i, c := range s.Columns {
		names[i] = c.Name
	}
	if strings.Join(names, "") != "" {
		p.row(s.Columns, names, "B")
	}
	for _, row := range s.Rows {
		p.row(s.Columns, row, "")
	}
}

// mostLines is how many lines of a row fit on a page.
const mostLines = 60

// row prints the cells next to each other, each wrapped in its column. It is on one page, unless it is
// higher than that.
func (p *printer) row(columns []column, cells []string, bold string) {
	p.style(bold, textSize, 0x14181f)
	lines, most := make([][]string, len(cells)), 1
	for i, cell := range cells {
		lines[i] = p.wrap(p.text(cell), columns[i].Width/100*textWidth-1.5)
		most = max(most, len(lines[i]))
	}
	for from := 0; from < most; from += mostLines {
		to := min(from+mostLines, most)
		p.keep(float64(to-from)*lineHeight + 1.2)
		p.lines(columns, lines, from, to)
	}
}

// lines prints a range of the lines of each cell.
func (p *printer) lines(columns []column, lines [][]string, from, to int) {
	y := p.GetY()
	p.SetDrawColor(0xdf, 0xe3, 0xea)
	p.Line(pageMargin, y, pageMargin+textWidth, y)
	x := pageMargin
	for i, cell := range lines {
		for n := from; n < min(to, len(cell)); n++ {
			p.SetXY(x, y+0.6+float64(n-from)*lineHeight)
			p.CellFormat(columns[i].Width/100*textWidth, lineHeight, cell[n], "", 0, "L", false, 0, "")
		}
		x += columns[i].Width / 100 * textWidth
	}
	p.SetXY(pageMargin, y+1.2+float64(to-from)*lineHeight)
}

// wrap breaks encoded text into lines, also inside words that are wider than a line.
func (p *printer) wrap(s string, width float64) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(s) {
		if next := strings.TrimSpace(line + " " + word); p.GetStringWidth(next) <= width {
			line = next
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		line = ""
		for i := range len(word) { // one byte is one character
			if p.GetStringWidth(line+word[i:i+1]) > width {
				lines = append(lines, line)
				line = ""
			}
			line += word[i : i+1]
		}
	}
	return append(lines, line)
}

// keep begins a page if the rest of this one is lower than height.
func (p *printer) keep(height float64) {
	if _, h := p.GetPageSize(); p.GetY()+height > h-pageBottom {
		p.AddPage()
	}
}

// signatures has a line to sign on for each person, two side by side.
func (p *printer) signatures(all []Signatory) {
	p.SetDrawColor(0x14, 0x18, 0x1f)
	p.Ln(8)
	for i := 0; i < len(all); i += 2 {
		p.keep(34)
		y := p.GetY() + 16
		for n, s := range all[i:min(i+2, len(all))] {
			x, width := pageMargin+float64(n)*(textWidth/2+4), textWidth/2-4
			p.Line(x, y, x+width, y)
			for j, line := range []string{s.Name, s.Role + ", " + s.Organization, "Date:"} {
				p.SetXY(x, y+1+float64(j)*4.2)
				p.style(map[bool]string{true: "B"}[j == 0], 8.5, 0x14181f)
				p.CellFormat(width, 4.2, p.text(line), "", 0, "L", false, 0, "")
			}
		}
		p.SetXY(pageMargin, y+16)
	}
}
