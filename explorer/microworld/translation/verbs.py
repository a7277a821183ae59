"""The verbs: English (`+` a particle), French (a word after it, `+` its preposition), of whom, what, and what is special.

*know*, *leave*, *play*, *work* and *remember* stand here more than once: what they mean, and so how they are translated,
depends on what follows them or on who does it.
"""

VERB_LINES = """
eat ate eaten | manger | person animal | food fruit | act
drink drank drunk | boire | person | drink | act
see saw seen | voir | person animal | person animal vehicle building toy clothes gift | now
hear heard heard | entendre | person animal | person animal song transport | now
buy bought bought | acheter | person | thing clothes vehicle food fruit gift drink | act
find found found | trouver | person | thing clothes pair plural small | once
lose lost lost | perdre | person | small clothes plural pair | once
look + for | chercher | person | small thing clothes person pet plural | act
look + at | regarder | person animal | person animal building gift clothes sky | act
watch | regarder | person | film flying | act
listen + to | écouter | person | song person flying | act
wait + for | attendre | person | transport person | act
read read read | lire | person | readable | act
write wrote written | écrire | person | letter written | act
open opened opened | ouvrir | person | opening holder | act
close | fermer | person | opening holder | act
break broke broken | casser | person | thing | once
clean | nettoyer | person | room vehicle | act
wash | laver | person | clothes pet vehicle fruit | act
repair | réparer | person | machine vehicle roof | act
carry | porter | person | thing holder | act
wear wore worn | porter | person | clothes plural pair | act
draw drew drawn | dessiner | person | animal building gift person | act
paint | peindre | person | building opening person nature animal | act
cut cut cut | couper | person | slice baked fruit | act
visit | visiter | person | sight town | act
help | aider | person | person | act
love | aimer | person | person pet food drink fruit building song | state generic
like | aimer | person | food drink fruit animal film-kind | state generic
hate | détester | person | food drink animal fruit | state generic
prefer preferred preferred | préférer | person | food drink animal fruit | state generic
know knew known | connaître | person | person building known town film | state
know knew known | savoir | person | | state clause
meet met met | rencontrer | person | person | once
invite | inviter | person | person | once
thank | remercier | person | person | once
follow | suivre | person animal | person animal vehicle | act
forget forgot forgotten | oublier | person | small clothes plural known | once
understand understood understood | comprendre | person | idea person readable | now
learn | apprendre | person | song taught | act
choose chose chosen | choisir | person | clothes gift film readable baked toy | act
build built built | construire | person | built | act
hide hid hidden | cacher | person animal | small gift | act
throw threw thrown | jeter | person | toy | act
fill | remplir | person | holder | act
drive drove driven | conduire | person | driven | act
take took taken | prendre | person | transport small | act
leave left left | quitter | person | building town room | once
leave left left | laisser | person | small clothes plural | puts
cross | traverser | person animal | way | act
turn + off | éteindre | person | switch | act
turn + on | allumer | person | switch | act
sing sang sung | chanter | person | song | act
need | avoir besoin + de | person | thing clothes vehicle food drink fruit | state needs
be + afraid of | avoir peur + de | person animal | animal person | state
phone | téléphoner + à | person | person | act
answer | répondre + à | person | person asked | act
obey | obéir + à | person | elder | act
feed fed fed | nourrir | person | animal pet | act
chase | chasser | animal | animal | act
receive | recevoir | person | post gift | once
finish | finir | person | readable exercise | act
play | jouer + à | person | sport | act game
play | jouer + de | person | instrument | act music
remember | souvenir + de | person | person song film town | self state
give gave given | donner | person | small gift fruit toy clothes | act gives
send sent sent | envoyer | person | post | act gives
show showed shown | montrer | person | thing clothes gift toy pet | act gives
lend lent lent | prêter | person | thing vehicle clothes | act gives
sell sold sold | vendre | person | vehicle thing fruit home | act gives
offer | offrir | person | gift drink baked | act gives
explain | expliquer | person | taught explained film | act gives to
read read read | lire | person | readable | act gives
sleep slept slept | dormir | person animal | | alone somewhere act
work | travailler | person | | alone somewhere act
work | fonctionner | machine | | alone state thing
sing sang sung | chanter | person flying | | alone act
dance | danser | person | | alone act somewhere
run ran run | courir | person animal | | alone act somewhere
walk | marcher | person animal | | alone act somewhere
swim swam swum | nager | person animal | | alone act
cry | pleurer | person | | alone act
laugh | rire | person | | alone act
smile | sourire | person | | alone act
travel | voyager | person | | alone act
fly flew flown | voler | flying flier | | alone act
jump | sauter | animal | | alone act
play | jouer | young pet | | alone act somewhere
wait | attendre | person | | alone act somewhere
arrive | arriver | person transport | | alone être once come
leave left left | partir | person transport | | alone être once come
come came come | venir | person | | alone être come
fall fell fallen | tomber | person animal small | | alone être once
stay | rester | person animal | | être somewhere stay
go went gone | aller | person | | être goes
return | rentrer | person | | alone être once come
go went gone + out | sortir | person animal | | alone être come
live | habiter | person | | state lives
get got got + up | lever | person | | alone self daily
go went gone + to bed | coucher | person | | alone self daily
wake woke woken + up | réveiller | person animal | | alone self daily
rest | reposer | person animal | | alone self act
hurry | dépêcher | person | | alone self act
get got got + dressed | habiller | person | | alone self daily
have had had + fun | amuser | person | | alone self act
be + hungry | avoir faim | person animal | | alone idiom state
be + thirsty | avoir soif | person animal | | alone idiom state
be + cold | avoir froid | person | | alone idiom state
be + hot | avoir chaud | person | | alone idiom state
be + afraid | avoir peur | person animal | | alone idiom state
be + right | avoir raison | person | | alone idiom state
be + wrong | avoir tort | person | | alone idiom state
be + sleepy | avoir sommeil | person | | alone idiom state
think thought thought | penser | person | | state clause
believe | croire | person | | state clause
say said said | dire | person | | clause say
hope | espérer | person | | state clause
have had had | avoir | person | pet clothes thing vehicle fruit food | state own
want | vouloir | person | small clothes vehicle fruit food drink toy baked | state wants
miss | manquer + à | person | person | state swap
fit fit fit | rentrer | packed | | fits state
put put put | mettre | person | small clothes | puts
rain | pleuvoir | | | weather
snow | neiger | | | weather
be + cold | faire froid | | | weather air state
be + hot | faire chaud | | | weather air state
be + dark | faire nuit | | | weather air state
can could could | pouvoir | person | | modal
must must must | devoir | person | | modal
would would would + like to | voudrait | person | | modal
want + to | vouloir | person | | willing state
like + to | aimer | person | | willing state
hate + to | détester | person | | willing state
hope + to | espérer | person | | willing state
prefer preferred preferred + to | préférer | person | | willing state
try + to | essayer + de | person | | willing
begin began begun + to | commencer + à | person | | willing
forget forgot forgotten + to | oublier + de | person | | willing
know knew known + how to | savoir | person | | able state
"""
