"""MP4: the playback as H.264 video, by the ffmpeg that `imageio-ffmpeg` carries (extra `video`)."""

from __future__ import annotations

import subprocess
from pathlib import Path

from PIL import Image

from gradviz.errors import ExportError
from gradviz.export.files import replacing
from gradviz.export.film import Film, film_of
from gradviz.export.job import Job, Made
from gradviz.export.raster import to_pillow
from gradviz.texts import tr

FPS = 25.0
_VIDEO_WIDTH = 1280


def export_mp4(job: Job, path: Path) -> Made:
    """Write the playback as a video.

    Raises:
        ExportError: the extra is not installed, or ffmpeg failed.
    """
    program = _program()
    fps = job.options.fps or FPS
    film = film_of(job, 2.0, _VIDEO_WIDTH)
    with replacing(path, job.options.force) as part:
        count = _encode(job, program, film, fps, part)
    return Made(count, film.note)


def _program() -> str:
    try:
        import imageio_ffmpeg
    except ImportError as error:
        raise ExportError(
            tr("MP4 needs ffmpeg: install it with `pip install 'gradviz-desktop[video]'`, or export a GIF or WebP.")
        ) from error
    name: str = imageio_ffmpeg.get_ffmpeg_exe()
    return name


def _encode(job: Job, program: str, film: Film, fps: float, part: Path) -> int:
    """Feed the frames to ffmpeg; returns how many there were."""
    process: subprocess.Popen[bytes] | None = None
    moments = film.ticks(fps)
    count = 0
    try:
        for index, tick in enumerate(moments):
            job.advance(index, len(moments))
            frame = _even(to_pillow(film.image(tick), alpha=False))
            if process is None:
                command = _command(program, frame.size, fps, part)
                process = subprocess.Popen(
                    command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
                )
            assert process.stdin is not None
            repeats = max(1, round(tick.milliseconds * fps / 1000)) if index == len(moments) - 1 else 1
            for _ in range(repeats):
                process.stdin.write(frame.tobytes())
            count += repeats
        assert process is not None
        _, errors = process.communicate()
    except BrokenPipeError:
        assert process is not None and process.stderr is not None
        errors = process.stderr.read()
    finally:
        if process is not None and process.poll() is None:
            process.kill()
            process.communicate()
    if process.returncode:
        last = errors.decode(errors="replace").strip().splitlines()[-1:] or ["?"]
        raise ExportError(tr("ffmpeg could not write the video: {why}", why=last[0]))
    job.advance(len(moments), len(moments))
    return count


def _even(image: Image.Image) -> Image.Image:
    """H.264 with 4:2:0 colours wants even sizes: repeat the last row or column."""
    width, height = image.width + image.width % 2, image.height + image.height % 2
    if (width, height) == image.size:
        return image
    larger = Image.new("RGB", (width, height))
    larger.paste(image.resize((width, height)), (0, 0))
    larger.paste(image, (0, 0))
    return larger


def _command(program: str, size: tuple[int, int], fps: float, part: Path) -> list[str]:
    """One thread and no dates: the same frames give the same bytes."""
    source = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{size[0]}x{size[1]}", "-r", f"{fps:g}", "-i", "-"]
    codec = ["-c:v", "libx264", "-preset", "medium", "-crf", "18", "-pix_fmt", "yuv420p", "-threads", "1"]
    plain = ["-map_metadata", "-1", "-fflags", "+bitexact", "-flags:v", "+bitexact", "-movflags", "+faststart"]
    return [program, "-y", "-loglevel", "error", *source, *codec, *plain, "-f", "mp4", str(part)]
