package extract

import (
	"math/rand/v2"
	"strings"
	"testing"

	"golang.org/x/text/unicode/bidi"
	"golang.org/x/text/unicode/norm"
)

// drawnFromRight is a line as it is drawn, from its left to its right, by the Unicode Bidirectional Algorithm.
func drawnFromRight(t *testing.T, s string) string {
	t.Helper()
	p := &bidi.Paragraph{}
	if _, err := p.SetString(s, bidi.DefaultDirection(bidi.RightToLeft)); err != nil {
		t.Fatal(err)
	}
	order, err := p.Order()
	if err != nil {
		t.Fatal(err)
	}
	drawn := ""
	for i := range order.NumRuns() {
		run := order.Run(i)
		text := run.String()
		if run.Direction() == bidi.RightToLeft {
			text = bidi.ReverseString(text)
		}
		drawn = text + drawn
	}
	return drawn
}

func tokensFrom(s string) (line []token) {
	for _, r := range s {
		line = append(line, newToken([]rune{r}))
	}
	return line
}

// What is read must be drawn as the line is that it was read from, whatever the order was that the writer chose.
func TestSpokenIsDrawnAlike(t *testing.T) {
	words := []string{"אב", "גדה", "ابت", "جح", "ab", "Cde", "12", "345", "3.5", "2024-05-12", "12:30", "50%", "x1", "(אב)", "[ابت 12]", "א.", "ab,"}
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		var said []string
		for range 1 + random.IntN(6) {
			said = append(said, words[random.IntN(len(words))])
		}
		line := strings.Join(said, " ")
		drawn := drawnFromRight(t, line)
		if read := spoken(tokensFrom(drawn), true); drawnFromRight(t, read) != drawn {
			t.Fatalf("%q is drawn %q, read %q, which is drawn %q", line, drawn, read, drawnFromRight(t, read))
		}
	}
}

func TestSpoken(t *testing.T) {
	for _, test := range []struct{ drawn, fromRight, fromLeft string }{
		{"12 בא", "אב 12", "12 אב"},
		{"(ab) 12 בא", "אב 12 (ab)", "(ab) 12 אב"},
		{"f(x) בא", "אב f(x)", "f(x) אב"},
		{"(בא) ab", "ab (אב)", "(אב) ab"},
		{"Windows 10 (x64) בא", "אב Windows 10 (x64)", "Windows 10 (x64) אב"},
		{"ab דג 12 בא cd", "cd אב 12 גד ab", "ab אב 12 גד cd"},
		{"12-05-2024 تبا", "ابت 2024-05-12", "12-05-2024 ابت"},
		{"2024-05-12 בא", "אב 2024-05-12", "2024-05-12 אב"},
		{"ab )דג( cd", "cd (גד) ab", "ab (גד) cd"}, // the engine has turned them around
		{"", "", ""},
	} {
		if got := spoken(tokensFrom(test.drawn), true); got != test.fromRight {
			t.Errorf("%q from the right: %q, want %q", test.drawn, got, test.fromRight)
		}
		if got := spoken(tokensFrom(test.drawn), false); got != test.fromLeft {
			t.Errorf("%q from the left: %q, want %q", test.drawn, got, test.fromLeft)
		}
	}
}

func TestRightToLeftPDF(t *testing.T) {
	document, err := testRunner(Limits{}).Extract(t.Context(), "testdata/righttoleft.pdf", PDF, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Join([]string{
		"تغادر السفن الميناء كل صباح قبل الفجر مع الصيادين.",
		"הספינות עוזבות את הנמל בכל בוקר לפני עלות השחר.",
		"السعر 1250 دولار في عام 2024 (تقريبا) مع شركة Siemens الألمانية.",
		"لا يوجد سلام، لأن البحر كبير.",
		"مُحَمَّدٌ رَسُولٌ كَرِيمٌ في المدينة.",
		"رقم ١٢٣٤ ورقم 5678-90 وأيضا 3.14 والنسبة ٪50 أو 50%.",
		"(كلمة أخرى) ثم [قوس مربع] و«اقتباس طويل» و\"نص\".",
		"ألماني-عربي، الموقع: harbour.example وانتهى!",
		"The harbour is called ميناء السفن in Arabic, and נמל in Hebrew (עיר).",
		"הקוד (עברית) עם [סוגריים] ו-2024 מספר 12.5 סוף.",
		"גרסה Windows 10 (x64) עולה 50% פחות.",
		"المدينة السكان المساحة", "القاهرة 9500000 606", "دمشق 2079000 105",
	}, "\n")
	got := strings.TrimSpace(whole(t, document).Text)
	if norm.NFC.String(got) != norm.NFC.String(want) {
		t.Errorf("read\n%s\nwant\n%s", got, want)
	}
}
