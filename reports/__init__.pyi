from reports.pages.board_images import to_image as to_image
from reports.pages.report_page import write_report as write_report
from reports.plots import draw_plot as draw_plot
from reports.replay.replay import replay_of_run as replay_of_run
from reports.replay.replay_page import replay_page as replay_page
from reports.tables.compare import compare_sections as compare_sections
from reports.tables.ratings import rating_sections as rating_sections
from reports.tables.summary import summarize as summarize
from reports.text.sections import render_sections as render_sections

__version__: str
