package extract

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"image"
	"io"
	"math"
	"strings"

	"github.com/klippa-app/go-pdfium/enums"
	"github.com/klippa-app/go-pdfium/requests"
)

// picture is a page that is drawn in shades of grey, a byte for each pixel.
type picture struct {
	width, height, dpi int
	pixels             []byte
}

// drawPage draws a page of a PDF, which is counted from 1.
func drawPage(ctx context.Context, src source, engine *pdfEngine, page int) (*picture, error) {
	doc := &pdfDocument{engine: engine, src: src, formless: true}
	defer doc.close()
	if err := doc.open(ctx); err != nil {
		return nil, err
	}
	size, err := doc.instance.FPDF_GetPageSizeByIndex(&requests.FPDF_GetPageSizeByIndex{Document: doc.doc, Index: page - 1})
	if err != nil {
		return nil, failDamaged
	}
	dpi := int(min(pictureDPI, math.Sqrt(maxPicture/(max(size.Width, 1)*max(size.Height, 1)))*72))
	if dpi < 1 {
		return nil, failTooLarge
	}
	drawn, err := doc.instance.RenderPageInDPI(&requests.RenderPageInDPI{
		Page: requests.Page{ByIndex: &requests.PageByIndex{Document: doc.doc, Index: page - 1}},
		DPI:  dpi, ImageFormat: requests.RenderImageFormatGrayscale, RenderFlags: enums.FPDF_RENDER_FLAG_ANNOT,
	})
	if err != nil {
		return nil, failDamaged
	}
	defer drawn.Cleanup()
	grey, ok := drawn.Result.RenderedImage.(*image.Gray)
	if !ok {
		return nil, fmt.Errorf("the PDF engine drew a %T", drawn.Result.RenderedImage)
	}
	p := &picture{width: grey.Rect.Dx(), height: grey.Rect.Dy(), dpi: dpi}
	for y := range p.height {
		p.pixels = append(p.pixels, grey.Pix[y*grey.Stride:][:p.width]...)
	}
	return p, nil
}

// writePicture sends a picture.
func writePicture(w *bufio.Writer, p *picture) {
	_ = w.WriteByte(answerPicture)
	for _, n := range []int{p.width, p.height, p.dpi} {
		writeUint(w, n)
	}
	_, _ = w.Write(p.pixels)
}

// readPicture takes a child's picture, or the failure that it gives instead.
func readPicture(in io.Reader) (*picture, error) {
	r := &answerReader{in: bufio.NewReaderSize(in, 64<<10)}
	kind, err := r.in.ReadByte()
	if err != nil {
		return nil, errProtocol
	}
	if kind != answerPicture {
		return nil, r.fault(kind)
	}
	p := &picture{width: r.uint(maxPicture), height: r.uint(maxPicture), dpi: r.uint(pictureDPI)}
	if r.bad || p.dpi == 0 || p.width == 0 || p.height == 0 || p.width > 2*maxPicture/p.height {
		return nil, errProtocol
	}
	p.pixels = make([]byte, p.width*p.height)
	if _, err := io.ReadFull(r.in, p.pixels); err != nil {
		return nil, errProtocol
	}
	return p, nil
}

// pgm is the picture as a Portable Graymap, the plainest form that Tesseract takes: its header is made here, whatever the child has sent.
func (p *picture) pgm() io.Reader {
	return io.MultiReader(strings.NewReader(fmt.Sprintf("P5\n%d %d\n255\n", p.width, p.height)), bytes.NewReader(p.pixels))
}
